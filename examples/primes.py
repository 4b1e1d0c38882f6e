"""Finds the primes below a thousand and says how many there are."""

sieve = [True] * 1000
sieve[0] = sieve[1] = False
for n in range(2, 32):
    if sieve[n]:
        for multiple in range(n * n, 1000, n):
            sieve[multiple] = False
primes = [n for n, is_prime in enumerate(sieve) if is_prime]
print("the last five:", *primes[-5:])
print(len(primes), "primes below 1000")
