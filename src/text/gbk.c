/* Looks up GBK pairs. The table has a row of code points for each lead byte; 0 where there is none.
 */
#include "gbk.h"

#include "text/gbk-table.h" /* made by tools/gen-gbk.c; found through the build's own src folder */

uint32_t gbk_code(unsigned char lead, unsigned char trail)
{
    if (!gbk_is_lead(lead) || trail < GBK_TRAIL_MIN || trail > GBK_TRAIL_MAX)
        return 0;
    return gbk_table[lead - GBK_LEAD_MIN][trail - GBK_TRAIL_MIN];
}

size_t gbk_valid_prefix(const void *data, size_t len)
{
    const unsigned char *s = data;
    size_t i = 0;

    while (i < len) {
        if (s[i] < 0x80)
            i++;
        else if (i + 1 < len && gbk_code(s[i], s[i + 1]))
            i += 2;
        else
            break;
    }
    return i;
}
