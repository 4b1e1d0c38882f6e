/* Does nothing: starting it and hearing of its end is all that can be measured. */
int main(void)
{
    return 0;
}
