/** A data file's content, or the error line to print before exiting. */
export type Opened<T> = { readonly ok: true; readonly data: T } | { readonly ok: false; readonly line: string };
