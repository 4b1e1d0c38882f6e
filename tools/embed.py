#!/usr/bin/env python3
"""Makes a C file that puts a file's bytes into the object made from it.

usage: embed.py INPUT OUTPUT.c SYMBOL

Defines `const unsigned char SYMBOL[]` and `const size_t SYMBOL_size`, both hidden. The bytes are
taken in by the assembler when OUTPUT.c is compiled, so a large input costs nothing.
"""

import os
import sys

TEMPLATE = """\
/* Made by tools/embed.py. */
#include <stddef.h>

__asm__(".pushsection .rodata\\n"
        ".balign 64\\n"
        ".globl {symbol}\\n"
        ".hidden {symbol}\\n"
        ".type {symbol}, %object\\n"
        "{symbol}:\\n"
        ".incbin \\"{path}\\"\\n"
        ".size {symbol}, . - {symbol}\\n"
        ".popsection\\n");

extern const size_t {symbol}_size;
const size_t {symbol}_size = {size};
"""


def quoted(text):
    """For use between the quotes of a C or assembler string."""
    return text.replace('\\', '\\\\').replace('"', '\\"')


def main():
    source, output, symbol = sys.argv[1:]
    path = quoted(quoted(os.path.abspath(source)))
    with open(output, 'w', encoding='utf-8') as f:
        f.write(TEMPLATE.format(symbol=symbol, path=path, size=os.path.getsize(source)))


if __name__ == '__main__':
    main()
