import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { describeEnd, statusFact } from "#shared/tools/redirects/chain.ts";
import { counted, cutUrl, duration, milliseconds } from "#shared/presentation/values.ts";
import { listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { redirects as contract } from "#shared/tools/redirects/contract.ts";

type Redirects = ResultOf<typeof contract>;
type Hop = Redirects["hops"][number];

const MOST_DOMAINS = 3;
const TYPES = { http: null, refresh_header: "Refresh header", meta: "meta element", none: null } as const;
const SKIPPED = {
  preloaded: "browsers skip it: the host is in their HSTS list",
  learned: "browsers skip it: an earlier hop sent HSTS",
} as const;

/** redirects: where the chain ends, then every hop with its status, and the time of each as a waterfall. */
export const redirects = definePresenter(contract, (data) => {
  const { hops, count, total_ms: took, final_url: finalUrl, final_code: code, failure } = data;
  const last = hops.at(-1);
  const arrives = failure === null && !data.loop && !data.truncated;
  const end = { ...data, url: finalUrl, code: failure === null ? code : null };
  const way = arrives && count > 0 ? ` (${counted(count, "redirect")}, ${duration(took)})` : "";
  return {
    headline: `${cutUrl(data.url)} ${describeEnd(end)}${way}`,
    facts: existing(
      fact("Ends at", failure?.url ?? finalUrl),
      statusFact(end),
      fact("Redirects", count),
      fact("Total time", milliseconds(took), { unit: "ms" }),
      fact("No answer", failure?.message, { tone: "bad" }),
      fact("Next", arrives || failure !== null ? null : last?.location),
      fact("Changes to HTTPS", data.https_upgrade ? "yes" : null, { tone: "good" }),
      fact("Leaves HTTPS", data.downgrade ? "yes: a hop goes back to http" : null, { tone: "warning" }),
      fact(
        "Other domains",
        listFirst(
          data.cross_domain.map(({ from, to }) => `${from} to ${to}`),
          MOST_DOMAINS,
        ),
      ),
      fact("Server", last?.server),
      fact("Address", last?.ip),
    ),
    series: existing(
      count === 0
        ? null
        : waterfall(
            "Time by hop",
            "ms",
            hops.map(({ n, code: status, ms }) => [`${n}. ${status}`, ms]),
          ),
    ),
    tables: existing(
      table(
        "Hops",
        ["#Hop", "#Status", "URL", "Note"],
        hops.map((hop) => ({
          cells: [hop.n, hop.code, hop.url, noteOf(hop)],
          tone: hop.code >= 500 ? "bad" : hop.code >= 400 ? "warning" : null,
        })),
      ),
    ),
  };
});

/** Says what is special about a hop: a redirect that is none by HTTP, one that browsers skip, and cookies. */
function noteOf({ type, delay_s: delay, hsts, set_cookie_count: cookies }: Hop): string {
  const by = TYPES[type];
  return existing(
    by === null ? null : `by ${by}${delay === null || delay === 0 ? "" : ` after ${delay} s`}`,
    hsts === null ? null : SKIPPED[hsts],
    cookies === 0 ? null : `sets ${counted(cookies, "cookie")}`,
  ).join("; ");
}
