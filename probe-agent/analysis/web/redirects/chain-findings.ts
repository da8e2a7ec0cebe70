import { sortFindings, type Finding, type Severity } from "#shared/findings.ts";
import { REDIRECT_ADVICE, type RedirectFindingId } from "#probe-agent/analysis/web/redirects/advice.ts";
import {
  FOLLOWED_DELAY_S,
  isRedirectStatus,
  type RedirectChain,
  type RedirectStep,
} from "#probe-agent/analysis/web/redirects/chain.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

/** Maximum number of redirects without a finding. More of them cost visitors and crawlers time. */
const LONG_CHAIN = 3;
/** Maximum length of a Location without a finding, in characters. Some clients and servers reject longer ones. */
const LONG_LOCATION = 2048;
/** Maximum length of a URL in a finding, in characters. */
const MAX_URL = 300;
/** Statuses that may concern only this probe: sign-in required, client not accepted, rate limit. */
const MAY_BE_OURS: ReadonlySet<number> = new Set([401, 403, 407, 429]);

/** An observation. `hop` is numbered from 1; null if it is about the whole chain. */
interface Seen {
  readonly id: RedirectFindingId;
  readonly severity: Severity;
  readonly message: string;
  readonly hop: number | null;
}

/** Returns the findings about a chain, worst first, then in its order. `where` is the URL of the response concerned. */
export function findChainFaults(chain: RedirectChain): Finding[] {
  const { steps } = chain;
  const hopFindings = steps.flatMap((step, index) => {
    const next = steps[index + 1];
    return [...locationRows(step), ...refreshRows(step, next !== undefined), ...transitionRows(step, next)].map(
      ([severity, id, message]): Seen => ({ severity, id, message, hop: index + 1 }),
    );
  });
  const all = [...endFindings(chain), ...hopFindings, ...chainFindings(chain)].map(
    ({ id, severity, message, hop }): Finding => {
      const url = hop === null ? undefined : steps[hop - 1]?.hop.url;
      return { id, severity, message, ...REDIRECT_ADVICE[id], where: url?.slice(0, MAX_URL) ?? null };
    },
  );
  return sortFindings(all);
}

type Row = readonly [severity: Severity, id: RedirectFindingId, message: string];

function endFindings({ steps, stopped, deadEnd }: RedirectChain): Seen[] {
  const hop = steps.length;
  switch (stopped) {
    case "loop":
      return [
        {
          severity: "critical",
          id: "loop",
          message: "The last response redirects to a URL that was requested before.",
          hop,
        },
      ];
    case "too_many_redirects":
      return [
        {
          severity: "critical",
          id: "too-many-redirects",
          message: `The chain continues after ${hop - 1} redirects, the limit of this check.`,
          hop,
        },
      ];
    case "dead_end":
    case "refresh_failed": {
      const what = stopped === "dead_end" ? "redirect" : "refresh";
      const message = `The ${what} leads to ${deadEnd?.url.slice(0, MAX_URL)}, which cannot be reached: ${deadEnd?.failure.message}.`;
      return [{ severity: "critical", id: stopped === "dead_end" ? "dead-end" : "refresh-failed", message, hop }];
    }
    case "refresh_refused":
      return [
        {
          severity: "critical",
          id: "refresh-refused",
          message: "The refresh leads to an address that this service is not allowed to contact.",
          hop,
        },
      ];
    default:
      return [];
  }
}

/** Returns findings about the status and the Location of a response. */
function locationRows({ hop }: RedirectStep): Row[] {
  const values = headerValues(hop.headers, "location");
  const [raw = ""] = values;
  const findings: Row[] = [];
  const add = (...finding: Row): void => void findings.push(finding);
  if (hop.code === 300)
    add(
      "info",
      "multiple-choices",
      "The status is 300, which leaves the choice to the visitor. Clients do not follow it.",
    );
  if (hop.code === 304)
    add(
      "warning",
      "unexpected-304",
      "The status is 304, but the request was not conditional: the response has no content.",
    );
  if (hop.code === 305 || hop.code === 306)
    add("critical", "obsolete-status", `The status is ${hop.code}, which is obsolete. Clients do not follow it.`);
  if (!isRedirectStatus(hop.code)) return findings;
  if (values.length === 0)
    add("critical", "missing-location", `The status ${hop.code} is a redirect, but the response has no Location.`);
  else if (hop.location === null) {
    const several = new Set(values).size > 1;
    if (several)
      add("critical", "several-locations", `The response has ${values.length} Location lines with different values.`);
    else
      add(
        "critical",
        "bad-location",
        raw === ""
          ? "Location is empty."
          : `Location is not a URL, or clients read it differently: ${raw.slice(0, MAX_URL)}.`,
      );
  } else if (!/^https?:/.test(hop.location)) {
    add(
      "critical",
      "other-scheme",
      `Location leads to ${hop.location.slice(0, MAX_URL)}, which is not an http or https URL.`,
    );
  }
  if (raw.length > LONG_LOCATION)
    add("warning", "long-location", `Location has ${raw.length} characters. Some clients and servers reject it.`);
  if (/[^\u0021-\u007e]/.test(raw)) {
    add("warning", "unencoded-location", "Location has characters that are not percent-encoded.");
  }
  if (raw.startsWith("//"))
    add(
      "info",
      "scheme-relative-location",
      `Location has no scheme (${raw.slice(0, MAX_URL)}). Clients use the scheme of the request.`,
    );
  return findings;
}

function refreshRows({ hop, refresh }: RedirectStep, followed: boolean): Row[] {
  if (refresh === null) return [];
  const what = refresh.kind === "refresh_header" ? "A Refresh header" : "A meta refresh";
  if (refresh.kind === "noscript" && !followed) {
    return [["info", "noscript-refresh", "A meta refresh within noscript redirects browsers that do not run scripts."]];
  }
  if (refresh.target === null)
    return [["critical", "refresh-target", `${what} has no http or https URL as its target.`]];
  if (refresh.reloads) {
    return [["info", "reloads-itself", `${what} reloads the page after ${refresh.delaySeconds} s.`]];
  }
  if (!followed && refresh.delaySeconds > FOLLOWED_DELAY_S) {
    return [["info", "slow-refresh", `${what} redirects after ${refresh.delaySeconds} s. It was not followed.`]];
  }
  const status = hop.code >= 400 ? ` of a response with status ${hop.code}` : "";
  return [["warning", "refresh", `${what}${status} redirects instead of a status and Location.`]];
}

/** Returns findings about the change from one URL to the next. */
function transitionRows({ hop }: RedirectStep, next: RedirectStep | undefined): Row[] {
  if (next === undefined) return [];
  const from = new URL(hop.url);
  const to = new URL(next.hop.url);
  if (from.protocol === "https:" && to.protocol === "http:") {
    return [
      [
        "warning",
        "downgrade",
        `The redirect leads from https to ${next.hop.url.slice(0, MAX_URL)}: anyone on the network can read and change the response.`,
      ],
    ];
  }
  const temporary = hop.code === 302 || hop.code === 303 || hop.code === 307;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  if (isUpgrade && temporary && isSameSite(from.hostname, to.hostname)) {
    return [
      [
        "info",
        "temporary-upgrade",
        `The redirect to https has the temporary status ${hop.code}: browsers request the http URL again each time.`,
      ],
    ];
  }
  return [];
}

function chainFindings({ steps }: RedirectChain): Seen[] {
  const last = steps.at(-1);
  const count = steps.length - 1;
  const found: Seen[] = [];
  if (count > LONG_CHAIN) {
    const message = `The chain has ${count} redirects. Each costs a round trip, and crawlers give up on long chains.`;
    found.push({ severity: "warning", id: "long-chain", message, hop: null });
  }
  if (last?.hop.url.startsWith("http:") === true) {
    const message = "The final page is served over http, without encryption.";
    found.push({ severity: "warning", id: "ends-at-http", message, hop: steps.length });
  }
  const code = last?.hop.code ?? 0;
  if (code >= 400) {
    const message = `The final response has status ${code}.`;
    found.push({
      severity: MAY_BE_OURS.has(code) ? "warning" : "critical",
      id: "ends-in-error",
      message,
      hop: steps.length,
    });
  }
  if (steps.some(({ hop }) => hop.tls?.authorized === false)) {
    const at = steps.findIndex(({ hop }) => hop.tls?.authorized === false);
    const message = `The certificate is not trusted (${steps[at]?.hop.tls?.error}). Browsers show an error page.`;
    found.push({ severity: "critical", id: "bad-certificate", message, hop: at + 1 });
  }
  return found;
}
