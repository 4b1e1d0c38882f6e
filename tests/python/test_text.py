"""Text from bytes that come in pieces."""

import unittest

from rein._text import Decoder, decode_line, without_escapes

CHINESE = '中文测试'


def feed_all(data, size):
    decoder = Decoder()
    given = [decoder.feed(data[i:i + size]) for i in range(0, len(data), size)]
    return ''.join(given) + decoder.flush()


class Decoding(unittest.TestCase):

    def check(self, data, expected):
        for size in (1, 2, 3, 5, len(data) or 1):
            with self.subTest(size=size):
                self.assertEqual(feed_all(data, size), expected)

    def test_utf8(self):
        self.check(f'a ä {CHINESE}\n𝄞 end'.encode(), f'a ä {CHINESE}\n𝄞 end')

    def test_gbk_line_by_line(self):
        self.check(f'abc{CHINESE}\n'.encode('gbk') + f'{CHINESE}\n'.encode(),
                   f'abc{CHINESE}\n{CHINESE}\n')

    def test_broken(self):
        self.check(b'a\xff\xffb\nnext\n', 'a��b\nnext\n')

    def test_cut_at_the_end(self):
        self.check(CHINESE.encode()[:-1], CHINESE[:-1] + '�')

    def test_a_beginning_is_given_at_once(self):
        decoder = Decoder()
        self.assertEqual(decoder.feed(b'50 %\r'), '50 %\r')
        self.assertEqual(decoder.feed(b'\xe4\xb8'), '')
        self.assertEqual(decoder.feed(b'\xad'), '中')

    def test_nothing_is_held_for_ever(self):
        decoder = Decoder()
        given = sum(len(decoder.feed(b'\xff' * 1000)) for _ in range(1000))
        self.assertGreater(given, 900_000)

    def test_nul(self):
        self.check(b'a\0b\n', 'a\0b\n')

    def test_line(self):
        self.assertEqual(decode_line(CHINESE.encode('gbk')), CHINESE)

    def test_escapes(self):
        self.assertEqual(without_escapes('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain'),
                         'red plain')


if __name__ == '__main__':
    unittest.main()
