import { literalFamily } from "#shared/egress/addresses.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { kindOf } from "#control-plane/kinds/kinds.ts";

const PLAIN_HTTP =
  "The certificate is watched only where the url begins with https://. If this one redirects to https, use that address, " +
  "or add a monitor of check_type ssl.";

/** Warns of an http URL of a website, which commonly redirects to https: nobody watches its certificate then. */
export function warnOfPlainHttp({
  url,
  check_type: type,
}: {
  readonly url: string;
  readonly check_type: string;
}): readonly Warning[] {
  const parsed = kindOf(type).target?.port === "url" ? URL.parse(url) : null;
  if (parsed === null || parsed.protocol !== "http:" || parsed.port !== "") return [];
  const isName = literalFamily(parsed.hostname.replaceAll(/[[\]]/g, "")) === null && parsed.hostname.includes(".");
  return isName ? [{ parameter: "url", message: PLAIN_HTTP, did_you_mean: null }] : [];
}
