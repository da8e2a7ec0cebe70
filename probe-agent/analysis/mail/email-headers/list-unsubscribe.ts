import type { HeaderRows } from "#probe-agent/analysis/mail/email-headers/rows.ts";
import type { Field } from "#probe-agent/analysis/mail/email-headers/fields.ts";
import { printable } from "#probe-agent/analysis/text/printable.ts";

type Result = HeaderRows;

const MAX_URIS = 20;
const MAX_URI = 2048;
const ONE_CLICK = /^list-unsubscribe=one-click$/i;

/** Reads the ways to unsubscribe (RFC 2369 section 3.2, RFC 8058). Null without the field. */
export function readListUnsubscribe(
  fields: readonly Field[],
  signatures: Result["dkim_signatures"],
): Result["list_unsubscribe"] {
  const field = fields.find(({ key }) => key === "list-unsubscribe");
  if (field === undefined) return null;
  const uris = readUris(field.value);
  const of = (scheme: string): string[] =>
    uris.flatMap((uri) => (uri.toLowerCase().startsWith(scheme) ? [printable(uri, MAX_URI)] : []));
  const [https, http, mailto] = [of("https:"), of("http:"), of("mailto:")];
  const post = fields.find(({ key }) => key === "list-unsubscribe-post");
  const asksForPost = post !== undefined && ONE_CLICK.test(post.value.replaceAll(/\s/g, ""));
  const covers = ({ h }: Result["dkim_signatures"][number]): boolean =>
    h.includes("list-unsubscribe") && h.includes("list-unsubscribe-post");
  const isSigned = post !== undefined && signatures.some(covers);
  const others = uris.length - https.length - http.length - mailto.length;
  return {
    https,
    http,
    mailto,
    one_click: asksForPost && https.length > 0,
    one_click_signed: isSigned,
    issues: [
      ...(uris.length === 0 ? ["The field has no address in angle brackets."] : []),
      ...(others > 0 ? ["Some addresses have a scheme that mail programs do not support."] : []),
      ...(post !== undefined && !asksForPost ? ["List-Unsubscribe-Post is not List-Unsubscribe=One-Click."] : []),
      ...(asksForPost && https.length === 0
        ? ["One-click unsubscription needs an https address (RFC 8058 section 3.1)."]
        : []),
      ...(asksForPost && !isSigned ? ["No DKIM signature covers both fields (RFC 8058 section 4)."] : []),
    ],
  };
}

/** Reads the texts in angle brackets. Removes white space, which comes from folding (RFC 2369 section 2). */
function readUris(value: string): string[] {
  const uris: string[] = [];
  for (let at = value.indexOf("<"); at >= 0 && uris.length < MAX_URIS; at = value.indexOf("<", at + 1)) {
    const end = value.indexOf(">", at);
    if (end < 0) break;
    uris.push(value.slice(at + 1, end).replaceAll(/\s+/g, ""));
    at = end;
  }
  return uris;
}
