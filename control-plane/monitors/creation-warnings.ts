import { literalFamily } from "#shared/egress/addresses.ts";
import { describeNoEnd, mayPublishEnd } from "#control-plane/watching/expiry/observed/registration.ts";
import type { Warning } from "#control-plane/http/warnings.ts";
import { kindOf } from "#control-plane/outages/kinds/kinds.ts";
import type { MonitorDraft } from "#control-plane/outages/kinds/monitor.ts";

const PLAIN_HTTP =
  "The certificate is watched only where the url begins with https://. If this one redirects to https, use that address, " +
  "or add a monitor of check_type ssl.";

type Facts = Pick<MonitorDraft, "url" | "check_type" | "port" | "watch_domain">;

/** Returns what the user of a new monitor should know about it. */
export function warnOfCreation(monitor: Facts): readonly Warning[] {
  return [...warnOfPlainHttp(monitor), ...warnOfNoEnd(monitor)];
}

/** Warns of an http URL of a website, which commonly redirects to https: nobody watches its certificate then. */
function warnOfPlainHttp({ url, check_type: type }: Facts): readonly Warning[] {
  const parsed = kindOf(type).target?.port === "url" ? URL.parse(url) : null;
  if (parsed === null || parsed.protocol !== "http:" || parsed.port !== "") return [];
  const isName = literalFamily(parsed.hostname.replaceAll(/[[\]]/g, "")) === null && parsed.hostname.includes(".");
  return isName ? [{ parameter: "url", message: PLAIN_HTTP, did_you_mean: null }] : [];
}

/** Warns of a registration that is watched and whose end nobody can know. */
function warnOfNoEnd(monitor: Facts): readonly Warning[] {
  const { url, check_type: type } = monitor;
  const domain = kindOf(type)
    .expires(url, monitor, null)
    .find(({ kind }) => kind === "domain");
  if (domain === undefined || mayPublishEnd(domain.target)) return [];
  const parameter = monitor.watch_domain ? "watch_domain" : "url";
  return [{ parameter, message: describeNoEnd(domain.target), did_you_mean: null }];
}
