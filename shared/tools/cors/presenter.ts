import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { pageFacts } from "#shared/presentation/page.ts";
import { cutUrl, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, worst } from "#shared/presentation/verdict.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { listFirst } from "#shared/text/list.ts";
import { cors as contract } from "#shared/tools/cors/contract.ts";
import type { ResultOf } from "#shared/tools/define.ts";

type Cors = ResultOf<typeof contract>;
type Probe = Cors["probes"][number];

const MOST_NAMED = 10;
const RISKS: Readonly<Record<Cors["risk"], Verdict>> = {
  none: "good",
  low: "good",
  high: "warning",
  critical: "bad",
};
const KINDS: Readonly<Record<Probe["kind"], string>> = {
  given: "your origin",
  foreign: "another site",
  null: "no site (null)",
  prefix: "begins like the host",
  suffix: "ends like the host",
  unescaped_dot: "dot replaced",
  subdomain: "made-up subdomain",
  http_downgrade: "the host over http",
};
/** Origins below the target's own name, which strangers cannot take without another fault. */
const OWN: ReadonlySet<Probe["kind"]> = new Set(["subdomain", "http_downgrade"]);
const VERDICTS: Readonly<Record<Probe["verdict"], string>> = {
  allowed_with_credentials: "allowed, with cookies",
  allowed: "allowed",
  denied: "denied",
  redirected: "redirected",
  rate_limited: "too many requests",
  failed: "no answer",
};

/** cors: what pages of other sites can read and do, then the policy in words, and the answer to each origin. */
export const cors = definePresenter(contract, (data) => {
  const { risk, findings, simple_request_allowed: reads, allow_methods: methods, allow_headers: headers } = data;
  const isSilent = reads === null && data.preflight_allowed === null;
  return {
    verdict: isSilent ? "warning" : worst([RISKS[risk], verdictOf(findings)]),
    headline: headlineOf(data),
    facts: existing(
      fact("Risk", isSilent ? null : risk, { tone: RISKS[risk] }),
      fact("Reads responses", yesNo(reads)),
      fact("With cookies", yesNo(data.credentialed_request_allowed)),
      fact("Sends JSON", yesNo(data.preflight_allowed)),
      fact("Tested origin", data.origin),
      fact("Allowed origin", data.allow_origin),
      fact("Allowed methods", methods === null ? null : listFirst(methods, MOST_NAMED)),
      fact("Allowed headers", headers === null ? null : listFirst(headers, MOST_NAMED)),
      fact("Readable headers", data.expose_headers === null ? null : listFirst(data.expose_headers, MOST_NAMED)),
      fact("Permission lasts", data.max_age_s === null ? null : writeDuration(data.max_age_s)),
      fact("Vary: Origin", yesNo(data.vary_origin)),
      ...pageFacts(data),
    ),
    tables: existing(tableOf(data.probes)),
  };
});

function headlineOf(data: Cors): string {
  const { risk, simple_request_allowed: reads, preflight_allowed: sends } = data;
  const target = shortUrl(data.url);
  const origin = data.origin === "null" ? "A page without an origin" : cutUrl(data.origin);
  if (reads === null && sends === null) return `${target} does not answer requests of ${origin}`;
  if (risk === "critical") return `Any site can use ${target} with the cookies of its visitors`;
  if (risk === "high") return `A site with a suitable origin can use ${target} with the cookies of its visitors`;
  const what = existing(reads === true && "read", sends === true && "send JSON to").join(" and ");
  if (what === "") {
    return risk === "none" ? `Other sites cannot read ${target}` : `Other sites can read public responses of ${target}`;
  }
  const cookies = data.credentialed_request_allowed === true ? " with the visitor's cookies" : "";
  return `${origin} can ${what} ${target}${cookies}; other sites ${risk === "none" ? "cannot" : "can read public responses"}`;
}

/** Lists each origin once, with the answer to its GET and to its preflight. */
function tableOf(probes: readonly Probe[]): Table | null {
  const origins = Array.from(new Map(probes.map((probe) => [`${probe.kind} ${probe.origin}`, probe])).values());
  return table(
    "Origins",
    ["Origin", "Kind", "Reading", "Sending JSON"],
    origins.map(({ kind, origin }) => {
      const [reading, sending] = [false, true].map((preflight) =>
        probes.find((one) => one.kind === kind && one.origin === origin && one.preflight === preflight),
      );
      const isOpen = [reading, sending].some((one) => one?.verdict === "allowed_with_credentials");
      return {
        cells: [
          origin,
          KINDS[kind],
          reading === undefined ? null : VERDICTS[reading.verdict],
          sending === undefined ? null : VERDICTS[sending.verdict],
        ],
        tone: !isOpen || kind === "given" ? null : OWN.has(kind) ? "warning" : "bad",
      };
    }),
  );
}
