import { isRedirectStatus, mayConcernOnlyProbe } from "#probe-agent/analysis/http/status.ts";
import { sortFindings, type Finding } from "#shared/contracts/findings.ts";
import { adviseOn, finding, type FindingDraft } from "#probe-agent/analysis/text/findings.ts";
import { REDIRECT_ADVICE, type RedirectFindingId } from "#probe-agent/analysis/web/redirect-advice.ts";
import { FOLLOWED_DELAY_S, type RedirectChain, type RedirectStep } from "#probe-agent/analysis/web/redirect-chain.ts";
import { headerValues } from "#probe-agent/analysis/http/header-list.ts";
import { isSameSite } from "#probe-agent/analysis/http/same-site.ts";

/** Maximum number of redirects without a finding. More of them cost visitors and crawlers time. */
const LONG_CHAIN = 3;
/** Maximum length of a Location without a finding, in characters. Some clients and servers reject longer ones. */
const LONG_LOCATION = 2048;
/** Maximum length of a URL in a finding, in characters. */
const MAX_URL = 300;
/** A finding about one response: `where` is its URL; about the whole chain it has none. */
type Draft = FindingDraft<RedirectFindingId>;

/** Returns the findings about a chain, worst first, then in its order. `where` is the URL of the response concerned. */
export function findChainFaults(chain: RedirectChain): Finding[] {
  const { steps } = chain;
  const hopFindings = steps.flatMap((step, index) => {
    const next = steps[index + 1];
    return [...locationFindings(step), ...refreshFindings(step, next !== undefined), ...transitionFindings(step, next)];
  });
  const drafts = [...endFindings(chain), ...hopFindings, ...chainFindings(chain)];
  return sortFindings(adviseOn(REDIRECT_ADVICE, drafts, null));
}

/** Returns the URL of a response as findings show it. */
function urlOf(step: RedirectStep | undefined): string | null {
  return step?.hop.url.slice(0, MAX_URL) ?? null;
}

function endFindings({ steps, stopped, deadEnd }: RedirectChain): Draft[] {
  const where = urlOf(steps.at(-1));
  switch (stopped) {
    case "loop":
      return [finding("loop", where, "The last response redirects to a URL that was requested before.")];
    case "too_many_redirects":
      return [
        finding(
          "too-many-redirects",
          where,
          `The chain continues after ${steps.length - 1} redirects, the limit of this check.`,
        ),
      ];
    case "dead_end":
    case "refresh_failed": {
      const what = stopped === "dead_end" ? "redirect" : "refresh";
      const message = `The ${what} leads to ${deadEnd?.url.slice(0, MAX_URL)}, which cannot be reached: ${deadEnd?.failure.message}.`;
      return [finding(stopped === "dead_end" ? "dead-end" : "refresh-failed", where, message)];
    }
    case "refresh_refused":
      return [
        finding(
          "refresh-refused",
          where,
          "The refresh leads to an address that this service is not allowed to contact.",
        ),
      ];
    default:
      return [];
  }
}

/** Returns findings about the status and the Location of a response. */
function locationFindings(step: RedirectStep): Draft[] {
  const { hop } = step;
  const values = headerValues(hop.headers, "location");
  const [raw = ""] = values;
  const found: Draft[] = [];
  const add = (id: RedirectFindingId, message: string): void => void found.push(finding(id, urlOf(step), message));
  if (hop.code === 300)
    add("multiple-choices", "The status is 300, which leaves the choice to the visitor. Clients do not follow it.");
  if (hop.code === 304)
    add("unexpected-304", "The status is 304, but the request was not conditional: the response has no content.");
  if (hop.code === 305 || hop.code === 306)
    add("obsolete-status", `The status is ${hop.code}, which is obsolete. Clients do not follow it.`);
  if (!isRedirectStatus(hop.code)) return found;
  if (values.length === 0)
    add("missing-location", `The status ${hop.code} is a redirect, but the response has no Location.`);
  else if (hop.location === null) {
    const several = new Set(values).size > 1;
    if (several) add("several-locations", `The response has ${values.length} Location lines with different values.`);
    else
      add(
        "bad-location",
        raw === ""
          ? "Location is empty."
          : `Location is not a URL, or clients read it differently: ${raw.slice(0, MAX_URL)}.`,
      );
  } else if (!/^https?:/.test(hop.location)) {
    add("other-scheme", `Location leads to ${hop.location.slice(0, MAX_URL)}, which is not an http or https URL.`);
  }
  if (raw.length > LONG_LOCATION)
    add("long-location", `Location has ${raw.length} characters. Some clients and servers reject it.`);
  if (/[^\u0021-\u007e]/.test(raw)) {
    add("unencoded-location", "Location has characters that are not percent-encoded.");
  }
  if (raw.startsWith("//"))
    add(
      "scheme-relative-location",
      `Location has no scheme (${raw.slice(0, MAX_URL)}). Clients use the scheme of the request.`,
    );
  return found;
}

function refreshFindings(step: RedirectStep, followed: boolean): Draft[] {
  const { hop, refresh } = step;
  const where = urlOf(step);
  if (refresh === null) return [];
  const what = refresh.kind === "refresh_header" ? "A Refresh header" : "A meta refresh";
  if (refresh.kind === "noscript" && !followed) {
    return [
      finding("noscript-refresh", where, "A meta refresh within noscript redirects browsers that do not run scripts."),
    ];
  }
  if (refresh.target === null)
    return [finding("refresh-target", where, `${what} has no http or https URL as its target.`)];
  if (refresh.reloads) {
    return [finding("reloads-itself", where, `${what} reloads the page after ${refresh.delaySeconds} s.`)];
  }
  if (!followed && refresh.delaySeconds > FOLLOWED_DELAY_S) {
    return [finding("slow-refresh", where, `${what} redirects after ${refresh.delaySeconds} s. It was not followed.`)];
  }
  const status = hop.code >= 400 ? ` of a response with status ${hop.code}` : "";
  return [finding("refresh", where, `${what}${status} redirects instead of a status and Location.`)];
}

/** Returns findings about the change from one URL to the next. */
function transitionFindings(step: RedirectStep, next: RedirectStep | undefined): Draft[] {
  const { hop } = step;
  if (next === undefined) return [];
  const from = new URL(hop.url);
  const to = new URL(next.hop.url);
  if (from.protocol === "https:" && to.protocol === "http:") {
    return [
      finding(
        "downgrade",
        urlOf(step),
        `The redirect leads from https to ${next.hop.url.slice(0, MAX_URL)}: anyone on the network can read and change the response.`,
      ),
    ];
  }
  const temporary = hop.code === 302 || hop.code === 303 || hop.code === 307;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  if (isUpgrade && temporary && isSameSite(from.hostname, to.hostname)) {
    return [
      finding(
        "temporary-upgrade",
        urlOf(step),
        `The redirect to https has the temporary status ${hop.code}: browsers request the http URL again each time.`,
      ),
    ];
  }
  return [];
}

function chainFindings({ steps }: RedirectChain): Draft[] {
  const last = steps.at(-1);
  const count = steps.length - 1;
  const found: Draft[] = [];
  if (count > LONG_CHAIN) {
    const message = `The chain has ${count} redirects. Each costs a round trip, and crawlers give up on long chains.`;
    found.push(finding("long-chain", null, message));
  }
  if (last?.hop.url.startsWith("http:") === true) {
    const message = "The final page is served over http, without encryption.";
    found.push(finding("ends-at-http", urlOf(last), message));
  }
  const code = last?.hop.code ?? 0;
  if (code >= 400) {
    const message = `The final response has status ${code}.`;
    found.push(finding("ends-in-error", urlOf(last), message, mayConcernOnlyProbe(code) ? "warning" : "critical"));
  }
  if (steps.some(({ hop }) => hop.tls?.authorized === false)) {
    const at = steps.findIndex(({ hop }) => hop.tls?.authorized === false);
    const message = `The certificate is not trusted (${steps[at]?.hop.tls?.error}). Browsers show an error page.`;
    found.push(finding("bad-certificate", urlOf(steps[at]), message));
  }
  return found;
}
