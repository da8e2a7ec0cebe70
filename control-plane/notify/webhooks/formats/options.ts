import type { FormatOption } from "#control-plane/notify/webhooks/formats/format.ts";

/** Maximum length of the value of an option, characters. */
export const MOST_VALUE = 256;

/** Characters that a header field, a path and JSON carry as they are. */
const VISIBLE = /^[\x21-\x7e]+$/;

/**
 * Describes an option. It is masked unless `secret` is false: even the name of an ntfy topic or of a chat is all that a
 * stranger needs.
 */
export function option({
  name,
  required = true,
  secret = true,
  description,
  pattern = VISIBLE,
  allowed = "visible ASCII characters without spaces",
}: Pick<FormatOption, "name" | "description"> & {
  readonly required?: boolean;
  readonly secret?: boolean;
  readonly pattern?: RegExp;
  readonly allowed?: string;
}): FormatOption {
  const check = (value: string): string | null => (pattern.test(value) ? null : `must be ${allowed}`);
  return { name, required, secret, description, check };
}
