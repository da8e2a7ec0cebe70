/** Data that was read, or the one line with which the agent does not start. */
export type Opened<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly line: string };
