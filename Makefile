# The front door: Meson and ninja do the work. `make help` lists the targets.
#
#   BUILD=DIR          where the ordinary build goes; the others get DIR-clang, DIR-sanitize, …
#   MESON_FLAGS=…      for setting up a build directory, e.g. -Dwerror=true
#   PREFIX=, DESTDIR=  for install
#   TESTS=…            for check and sanitize: only these tests, e.g. TESTS="buf strv"
#   SUITE_FLAGS=…      for the same, and for check-clang: more of run-suite.py's, e.g. --no-long
#   FUZZ_SECONDS=N     for fuzz: how long each target runs

BUILD ?= build
MESON_FLAGS ?=
TESTS ?=
SUITE_FLAGS ?=
FUZZ_SECONDS ?= 30

PYTHON := /usr/bin/python3
CLANG_BUILD := $(BUILD)-clang
SANITIZE_BUILD := $(BUILD)-sanitize
FUZZ_BUILD := $(BUILD)-fuzz
ANALYZE_BUILD := $(BUILD)-analyze

# Targets given together run one after the other, with -j as well: ninja uses the cores.
.NOTPARALLEL:
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:

# The supervisor is measured, too, so it cannot be the static one.
sanitizers = -Db_sanitize=address,undefined -Db_lundef=false -Dsupervisor_libc=host

# A build directory is set up once; ninja then sets it up anew by itself when meson.build changes.
define setup
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo "meson or ninja is missing; 'make deps' installs what is needed, or as root:" >&2; \
		  echo "apt-get install $$(tools/install-deps.sh --missing build 2>/dev/null)" >&2; exit 1; }
	meson setup $(MESON_FLAGS) $(1) $(@D)
endef

.PHONY: all
all: $(BUILD)/build.ninja ## build the program, the library, the manual pages and the tests
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	$(call setup,$(if $(PREFIX),--prefix=$(PREFIX)))
$(CLANG_BUILD)/build.ninja:
	$(call setup,--native-file tools/clang.ini)
$(SANITIZE_BUILD)/build.ninja:
	$(call setup,$(sanitizers))
$(FUZZ_BUILD)/build.ninja:
	$(call setup,--native-file tools/clang.ini -Dfuzz=true $(sanitizers) -Dman=disabled)
# gcc 12 sees most clearly without optimisation. Two of its checks cry wolf: what is stored in an array
# counts as leaked, which the sanitizers know better, and what a callee fills in as uninitialized,
# which clang-tidy knows better.
$(ANALYZE_BUILD)/build.ninja:
	$(call setup,--native-file tools/gcc.ini -Doptimization=0 \
		-Dc_args="-fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value" \
		-Dwerror=true -Dsupervisor_libc=host -Dtests=disabled -Dman=disabled)

.PHONY: deps
deps: ## install the Debian packages that are missing
	@tools/install-deps.sh

.PHONY: run
run: all ## see rein at work on a few real commands
	@./examples/tour.sh $(BUILD)/rein

# ---- tests: each ends with a line 'N passed, N failed' ----------------------------------------

.PHONY: check
check: all ## run the whole suite; as root also as an ordinary user
	@$(PYTHON) tests/run-suite.py $(BUILD) --also-user nobody --counts $(BUILD)/counts-check $(SUITE_FLAGS) $(TESTS)

.PHONY: check-clang
check-clang: $(CLANG_BUILD)/build.ninja ## run the tests of the parts on a build by clang
	@ninja -C $(CLANG_BUILD)
	@$(PYTHON) tests/run-suite.py $(CLANG_BUILD) --suite unit --suite fuzz \
		--counts $(CLANG_BUILD)/counts-check $(SUITE_FLAGS) $(TESTS)

.PHONY: sanitize
sanitize: $(SANITIZE_BUILD)/build.ninja ## run the suite with AddressSanitizer and UndefinedBehaviorSanitizer
	@ninja -C $(SANITIZE_BUILD)
	@$(PYTHON) tests/run-suite.py $(SANITIZE_BUILD) --suite unit --suite fuzz --suite e2e \
		--counts $(SANITIZE_BUILD)/counts-check $(SUITE_FLAGS) $(TESTS)

.PHONY: lint
lint: all $(ANALYZE_BUILD)/build.ninja ## check layers, layout, interface, spelling, static analysis
	@$(PYTHON) tools/lint.py --build $(BUILD) --analyze-build $(ANALYZE_BUILD) --counts $(BUILD)/counts-lint

.PHONY: fuzz
fuzz: $(FUZZ_BUILD)/build.ninja ## let libFuzzer look for inputs that break a parser
	@ninja -C $(FUZZ_BUILD) fuzz-targets
	@$(PYTHON) tools/run-fuzz.py $(FUZZ_BUILD) --seconds $(FUZZ_SECONDS)

.PHONY: bench
bench: all ## measure against named peers
	@$(PYTHON) tests/bench/bench.py $(BUILD)

# ---- the rest ---------------------------------------------------------------------------------

.PHONY: format
format: ## lay out the C files
	@find include src tests examples -name '*.[ch]' -exec clang-format -i {} +

.PHONY: install
install: all ## install under PREFIX (/usr/local), below DESTDIR
	$(if $(PREFIX),@meson configure $(BUILD) -Dprefix=$(PREFIX) && ninja -C $(BUILD))
	@DESTDIR=$(DESTDIR) meson install -C $(BUILD) --no-rebuild --quiet
	@[ -n "$(DESTDIR)" ] || [ "$$(id -u)" -ne 0 ] || ldconfig

.PHONY: wheel
wheel: all ## make the Python package's wheel in dist
	@$(PYTHON) bindings/python/rein_build.py dist --build $(BUILD)

.PHONY: clean
clean: ## remove the build directories
	@rm -rf $(BUILD) $(CLANG_BUILD) $(SANITIZE_BUILD) $(FUZZ_BUILD) $(ANALYZE_BUILD) dist

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
