import type { ConvertOptions } from "#shared/client/uptime-kuma/context.ts";
import { quoteName, type NotTaken } from "#shared/client/uptime-kuma/source.ts";
import { createEgress, NO_ALLOW_LISTS, type Egress, type HostCheck, type UrlCheck } from "#shared/internet/egress.ts";
import { literalFamily } from "#shared/egress/addresses.ts";
import { isUsableName } from "#shared/egress/names.ts";
import { isBlockedPort } from "#shared/egress/ports.ts";
import { splitHostPort } from "#shared/internet/host-port.ts";
import { completeUrl } from "#shared/internet/target-url.ts";

/** Whether private targets are taken over. */
type Rules = Pick<ConvertOptions, "includePrivate">;

/** A target that the service can check, or why it cannot. */
type Vetted<T> = { readonly ok: true; readonly value: T } | NotTaken;

/** Maximum length of a target, in characters. */
const LONGEST = 8_192;

const PUBLIC = createEgress(NO_ALLOW_LISTS);

/** Checks the URL of a web site as the service will: text with the scheme http or https, or a host. */
export function vetUrl(text: string, rules: Rules): Vetted<string> {
  const complete = text.length > LONGEST ? null : completeUrl(text);
  if (complete === null) return refuse(`url ${shownUrl(text)} is no http:// or https:// URL`);
  const parsed = URL.parse(complete);
  const checked = check((egress) => egress.checkUrl(complete), parsed?.hostname ?? "", rules);
  if (checked === "ok") return { ok: true, value: text };
  if (checked === "invalid") return refuse(`url ${shownUrl(text)} is no http:// or https:// URL`);
  const port = parsed?.port ?? "";
  if (isBlockedPort(port)) return refuse(`no web site is checked at port ${port}, which belongs to another protocol`);
  return refuse(privateTarget(text));
}

/** Takes user name and password out of a URL: a client sends them as Basic authentication (RFC 7617). */
export function splitCredentials(text: string): { readonly url: string; readonly credentials: string | null } {
  const url = URL.parse(text);
  if (url === null || (url.username === "" && url.password === "")) return { url: text, credentials: null };
  const credentials = `${decode(url.username)}:${decode(url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, credentials };
}

/** Quotes a URL for a line, without user name and password. */
export function shownUrl(text: string): string {
  return quoteName(text.replace(/\/\/[^/?#@]*@/, "//"));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text).toWellFormed();
  } catch {
    return text;
  }
}

/** Checks a host name or an address. `connects`: false for a name that is only looked up. */
export function vetHost(text: string, rules: Rules, { connects = true } = {}): Vetted<string> {
  const host = text.trim();
  const checked = check((egress) => egress.checkHost(host, { connects }), host, rules);
  if (checked === "ok") return { ok: true, value: host };
  if (checked === "private") return refuse(privateTarget(host));
  return refuse(`hostname ${quoteName(text)} is no ${connects ? "host name or address" : "domain name"}`);
}

/** Checks host:port. Returns it with an IPv6 address in brackets. */
export function vetServer(text: string, rules: Rules): Vetted<string> {
  const split = splitHostPort(text.trim());
  if (split === undefined || split.port === null || split.port === 0)
    return refuse(`${quoteName(text)} is no host:port`);
  const host = vetHost(split.host, rules);
  if (!host.ok) return host;
  return { ok: true, value: `${host.value.includes(":") ? `[${host.value}]` : host.value}:${split.port}` };
}

/** Checks a target by the rules for everybody, and for a private one by those of an operator who allows it. */
function check(
  by: (egress: Egress) => UrlCheck | HostCheck,
  host: string,
  { includePrivate }: Rules,
): "ok" | "invalid" | "private" {
  const everyone = by(PUBLIC);
  if (everyone.ok) return "ok";
  if (everyone.code !== "target_not_allowed") return "invalid";
  if (!includePrivate) return "private";
  const isName = literalFamily(host) === null && isUsableName(host.toLowerCase());
  return by(createEgress({ targets: ["0.0.0.0/0", "::/0"], names: isName ? [host] : [] })).ok ? "ok" : "private";
}

function privateTarget(text: string): string {
  return `${quoteName(text)} is not on the public internet; --private takes it over, for a service whose operator allows it`;
}

function refuse(why: string): NotTaken {
  return { ok: false, why };
}
