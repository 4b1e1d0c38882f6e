/* What a caller may declare about the bytes of a job. */
#ifndef REIN_TEXT_ENCODING_H
#define REIN_TEXT_ENCODING_H

enum text_encoding {
    TEXT_ENC_AUTO = 0, /* UTF-8; a line that is not is tried as GBK; UTF-16 after a BOM */
    TEXT_ENC_UTF8,
    TEXT_ENC_GBK,
    TEXT_ENC_MAX
};

#endif
