const BARE_ITEM = String.raw`(?:-?\d{1,15}(?:\.\d{1,3})?|"(?:[ !#-\[\]-~]|\\["\\])*"|[A-Za-z*][!#$%&'*+.^_\`|~0-9A-Za-z:/-]*|:[A-Za-z0-9+/=]*:|\?[01])`;
const TOKEN_ITEM = new RegExp(
  String.raw`^ *([A-Za-z*][!#$%&'*+.^_\`|~0-9A-Za-z:/-]*)(?:; *[a-z*][a-z0-9_.*-]*(?:=${BARE_ITEM})?)* *$`,
);

/** Parses a structured field item that is a token (RFC 9651 section 4.2.3), without its parameters; else null. */
export function structuredToken(value: string): string | null {
  return TOKEN_ITEM.exec(value.slice(0, 1024))?.[1] ?? null;
}
