import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Fact } from "#shared/presentation/presentation.ts";
import { describeEnd, statusFact, trackingTable } from "#shared/tools/redirects/chain.ts";
import { cutUrl } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { urlExpand as contract } from "#shared/tools/url-expand/contract.ts";

type Expanded = ResultOf<typeof contract>;

const TYPES = { http: null, refresh_header: "by Refresh header", meta: "by meta element", none: null } as const;

/** url-expand: where a short link leads, what hints that it is not safe, and every hop to it. */
export const urlExpand = definePresenter(contract, (data) => {
  const { short_url: short, expanded_url: url, title, service, safe, count, code, findings } = data;
  const end = { ...data, url, loop: safe.loop, truncated: safe.truncated };
  const signs = signsOf(data);
  return {
    verdict: worst([verdictOf(findings), signs.length > 0 ? "warning" : "good"]),
    headline: `${cutUrl(short)} ${describeEnd(end)}`,
    facts: existing(
      fact("Leads to", url),
      statusFact({ code }),
      fact("Title", title),
      fact("Redirects", count),
      ...signs,
      fact("No answer", data.failure?.message, { tone: "bad" }),
      fact("Encrypted", safe.https_throughout ? "yes, every hop" : null, { tone: "good" }),
      fact("Short link of", service ?? (data.looks_shortened ? "an unknown service" : null)),
      fact("Without tracking", data.clean_url === url ? null : data.clean_url),
      fact("Content", data.content_type),
    ),
    tables: existing(
      table(
        "Hops",
        ["#Hop", "#Status", "URL", "Note"],
        data.hops.map((hop) => [hop.n, hop.code, hop.url, existing(hop.service, TYPES[hop.type]).join(", ")]),
      ),
      trackingTable(data.tracking_params),
    ),
  };
});

/** Returns what in the link itself hints that it is not safe. None of it is a proof. */
function signsOf({ safe, code }: Expanded): readonly Fact[] {
  const tone = "warning";
  return existing(
    fact("Encrypted", safe.https || code === null ? null : "no: its page is not on trusted HTTPS", { tone }),
    fact("Encrypted", safe.https && !safe.https_throughout ? "only at its end" : null, { tone }),
    fact("Leaves HTTPS", safe.downgrade ? "yes: a hop goes back to http" : null, { tone }),
    fact("Host", safe.to_address ? "an IP address instead of a name" : null, { tone }),
    fact("Letters", safe.punycode ? "not ASCII: they can look like others" : null, { tone }),
    fact("Shorteners", safe.shortener_count > 1 ? `${safe.shortener_count}: together they hide the end` : null, {
      tone,
    }),
  );
}
