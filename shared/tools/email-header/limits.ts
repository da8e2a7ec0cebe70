/** Octets of headers that are read; more is refused. Apart from the contract, so that analyses need no schema library. */
export const MAX_HEADERS_BYTES = 256 * 1024;
