/** Maximum number of octets of headers. In a separate file, so that analyses need no schema library. */
export const MAX_HEADERS_BYTES = 256 * 1024;
