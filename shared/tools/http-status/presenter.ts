import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import type { Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { trustReason } from "#shared/presentation/trust-reason.ts";
import { bytes, cutUrl, duration, milliseconds, shortUrl } from "#shared/presentation/values.ts";
import { writeDuration } from "#shared/text/duration.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { httpStatus as contract } from "#shared/tools/http-status/contract.ts";

type Status = ResultOf<typeof contract>;

const TONES: Readonly<Record<Status["class"], Verdict>> = {
  informational: "warning",
  success: "good",
  redirection: "good",
  client_error: "warning",
  server_error: "bad",
  invalid: "bad",
};
const STORED_BY = { shared: "any cache", private: "only the browser", none: "nobody" } as const;

/** http-status: the status with its meaning, how long it took, and what the headers tell browsers, caches and crawlers. */
export const httpStatus = definePresenter(contract, (data) => {
  const { code, reason, location, tls, timing_us: phases, elapsed_ms: took, robots } = data;
  const isUntrusted = tls !== null && !tls.authorized;
  return {
    headline: headlineOf(data),
    facts: existing(
      fact("Status", `${code} ${reason}`.trim(), { tone: TONES[data.class] }),
      fact("Total time", milliseconds(took), { unit: "ms" }),
      fact("First byte", milliseconds(phases.ttfb_us / 1_000), { unit: "ms" }),
      fact("Address", data.ip),
      fact("Meaning", data.meaning),
      fact("Leads to", location),
      fact("Certificate", isUntrusted ? `not trusted: ${trustReason(tls.error)}` : null, { tone: "bad" }),
      fact("Try again in", data.retry_after_s === null ? null : writeDuration(data.retry_after_s)),
      fact("Protocol", `HTTP/${data.http_version}${tls === null ? ", not encrypted" : `, ${tls.protocol}`}`),
      fact("Not in the registry", data.registered ? null : `used by ${data.vendor ?? "nobody known"}`),
      fact("Server", data.server),
      fact("Content", data.content_type),
      fact("Size", data.content_length === null ? null : bytes(data.content_length)),
      fact("May be cached by", describeCaching(data.cache)),
      fact("Search engines", robotsOf(robots), { tone: "warning" }),
    ),
    series: existing(
      waterfall("Timing", "ms", [
        ["DNS lookup", phases.dns_us / 1_000],
        ["TCP connection", phases.connect_us / 1_000],
        ["TLS handshake", phases.tls_us / 1_000],
        ["Waiting for the first byte", phases.ttfb_us / 1_000],
        ["Download", phases.transfer_us / 1_000],
      ]),
    ),
    tables: existing(
      table(
        "Caches on the way",
        ["Header", "Value"],
        data.cache.served_by.map(({ header, value }) => [header, value]),
      ),
      table(
        "Requests to crawlers",
        ["Crawler", "Directives"],
        robots.tags.map(({ agent, directives }) => [agent === "*" ? "all" : agent, directives.join(", ")]),
      ),
    ),
  };
});

function headlineOf({ url, code, reason, redirected, location, tls, elapsed_ms: took }: Status): string {
  const answer = `${shortUrl(url)} answers ${`${code} ${reason}`.trim()}`;
  if (tls !== null && !tls.authorized)
    return `${answer}, but its certificate is not trusted: ${trustReason(tls.error)}`;
  return redirected && location !== null
    ? `${answer} and leads to ${cutUrl(location)}`
    : `${answer} in ${duration(took)}`;
}

/** Says who may keep a copy and for how long: a shared cache's time, else the browser's. */
function describeCaching({ storable, always_revalidate: asks, browser, shared }: Status["cache"]): string {
  if (storable === "none") return STORED_BY.none;
  const lasts = (storable === "shared" ? (shared ?? browser) : browser)?.fresh_s ?? null;
  if (asks || lasts === 0) return `${STORED_BY[storable]}, which asks again each time`;
  return `${STORED_BY[storable]}${lasts === null ? "" : ` for ${writeDuration(lasts)}`}`;
}

function robotsOf({ noindex, nofollow }: Status["robots"]): string | null {
  const asked = existing(noindex && "not to list the page", nofollow && "not to follow its links");
  return asked.length === 0 ? null : `asked ${asked.join(" and ")}`;
}
