"""A server that shows ssh a host key that nobody knows, and goes no further.

Prints its port and serves one client on 127.0.0.1: version, key exchange proposal, and a reply
with a host key of random bytes. A client looks at the key before the signature under it, so the
signature need not be right: who lets the key pass would fail a moment later with another message.
"""

import os
import socket
import struct

KEXINIT, ECDH_REPLY = 20, 31
PROPOSAL = (b'curve25519-sha256', b'ssh-ed25519', *[b'aes128-ctr'] * 2, *[b'hmac-sha2-256'] * 2,
            *[b'none'] * 2, b'', b'')


def string(data):
    return struct.pack('>I', len(data)) + data


def packet(payload):
    padding = 8 - (len(payload) + 5) % 8
    padding += 8 if padding < 4 else 0
    return (struct.pack('>IB', 1 + len(payload) + padding, padding) + payload + bytes(padding))


def read_packet(stream):
    (size,) = struct.unpack('>I', stream.read(4))
    return stream.read(size)


def main():
    with socket.create_server(('127.0.0.1', 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        connection, _ = listener.accept()
    with connection, connection.makefile('rwb') as stream:
        stream.write(b'SSH-2.0-unknown\r\n')
        stream.write(packet(bytes([KEXINIT]) + os.urandom(16)
                            + b''.join(string(names) for names in PROPOSAL) + bytes(5)))
        stream.flush()
        stream.readline()       # the client's version
        read_packet(stream)     # its proposal
        read_packet(stream)     # its half of the exchange
        host_key = string(b'ssh-ed25519') + string(os.urandom(32))
        signature = string(b'ssh-ed25519') + string(os.urandom(64))
        stream.write(packet(bytes([ECDH_REPLY]) + string(host_key) + string(os.urandom(32))
                            + string(signature)))
        stream.flush()
        stream.read()           # until the client goes


if __name__ == '__main__':
    main()
