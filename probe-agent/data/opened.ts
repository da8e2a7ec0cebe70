/** The data, or the line to print before exiting. */
export type Opened<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly line: string };
