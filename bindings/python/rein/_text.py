"""Bytes to text while they come: UTF-8; a line that is none is tried as GBK, whole and strict; else
U+FFFD stands for what is broken. A character is never split. What a job has written in the end is
rendered by the library, not here."""

import re

_HELD_MAX = 64 << 10        # of a line that is not UTF-8 and has no end
_ESCAPES = re.compile(r'\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])')


def decode_line(data):
    """One line, or what is left of one."""
    for encoding in ('utf-8', 'gbk'):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            pass
    return data.decode('utf-8', 'replace')


def without_escapes(text):
    return _ESCAPES.sub('', text)


class Decoder:
    """Takes the pieces of one stream, and gives what can be said of them at once."""

    def __init__(self):
        self._held = b''
        self._is_ascii = True   # what was given of the line already

    def feed(self, data):
        self._held += data
        lines = self._held.split(b'\n')
        self._held = lines.pop()
        given = ''.join(self._end_line(line + b'\n') for line in lines)
        return given + self._give_beginning()

    def flush(self):
        held, self._held = self._held, b''
        return self._end_line(held) if held else ''

    def _end_line(self, line):
        was_ascii, self._is_ascii = self._is_ascii, True
        # What was given is the same in both encodings only if it is ASCII.
        return decode_line(line) if was_ascii else line.decode('utf-8', 'replace')

    def _give_beginning(self):
        try:
            text, rest = self._held.decode('utf-8'), b''
        except UnicodeDecodeError as e:
            if e.reason != 'unexpected end of data':
                return self._give_long_line()
            text, rest = self._held[:e.start].decode('utf-8'), self._held[e.start:]
            # The first byte of what may be GBK: wait for more of it.
        self._held = rest
        self._is_ascii = self._is_ascii and text.isascii()
        return text

    def _give_long_line(self):
        if len(self._held) < _HELD_MAX:
            return ''
        text, self._held = self._held.decode('utf-8', 'replace'), b''
        self._is_ascii = self._is_ascii and text.isascii()
        return text
