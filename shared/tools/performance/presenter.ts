import { existing, fact, table, waterfall } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { bytes, counted, duration, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { verdictOf, verdictOfPractice } from "#shared/presentation/verdict.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { performance as contract } from "#shared/tools/performance/contract.ts";
import type { Table } from "#shared/presentation/presentation.ts";
import { writeDuration } from "#shared/text/duration.ts";

type Performance = ResultOf<typeof contract>;

const RATINGS = { good: "good", needs_improvement: "to be improved", poor: "poor" } as const;
const RESULTS = { pass: "good", warn: "fair", fail: "poor", na: "not counted" } as const;

/** performance: the grade, the time to the first byte and the weight of a page, and the checks that cost points. */
export const performance = definePresenter(contract, (data) => {
  const { timing_us: timing, grade, findings } = data;
  return {
    verdict: verdictOfPage(data, grade === null ? verdictOf(findings) : verdictOfPractice(grade, findings)),
    headline: headlineOf(data),
    facts: listFacts(data),
    series: existing(
      waterfall("Timing of the page", "ms", [
        ["Redirects", timing.redirect_us / 1_000],
        ["DNS lookup", timing.dns_us / 1_000],
        ["TCP connection", timing.connect_us / 1_000],
        ["TLS handshake", timing.tls_us / 1_000],
        ["Waiting for the first byte", timing.ttfb_us / 1_000],
        ["Download", timing.transfer_us / 1_000],
      ]),
    ),
    tables: existing(listChecks(data), ...listResources(data.resources)),
  };
});

function headlineOf({ final_url: url, code, grade, score, navigation_ttfb_ms: ttfb, resources }: Performance): string {
  const page = shortUrl(url);
  if (grade === null) return `${page} is an error page (status ${code}): its speed is not graded`;
  const weight = `${bytes(resources.total_bytes)} in ${counted(resources.total + 1, "request")}`;
  return `${page}: grade ${grade}, ${score} of 100, first byte after ${duration(ttfb)}, ${weight}`;
}

function listFacts(data: Performance) {
  const { grade, resources, html, images, protocol, dom, ttfb_rating: rating } = data;
  const { third_party: others } = resources;
  const h3 = protocol.alt_svc_h3 ? ", HTTP/3 offered" : "";
  return existing(
    fact("Grade", grade === null ? null : `${grade}, ${data.score} of 100`, {
      tone: grade === null ? null : verdictOfPractice(grade, []),
    }),
    fact("First byte", `${duration(data.navigation_ttfb_ms)}, ${RATINGS[rating]}`, {
      tone: rating === "good" ? "good" : "warning",
    }),
    fact("Page weight", bytes(resources.total_bytes)),
    fact("HTML complete", duration(data.total_ms)),
    fact("Requests", resources.total + 1),
    fact("Size unknown", resources.unknown_sizes === 0 ? null : `of ${counted(resources.unknown_sizes, "resource")}`),
    fact("Blocks first paint", resources.render_blocking_total),
    fact("Other sites", others.count === 0 ? null : `${counted(others.count, "request")}, ${bytes(others.bytes)}`),
    fact("HTML", `${bytes(html.transfer_bytes)}, ${html.encoding ?? "not compressed"}`),
    fact("HTML cut", html.truncated ? "yes: sizes are of the part that was read" : null, { tone: "warning" }),
    fact("Protocol", `HTTP/${protocol.http_version}${h3}${protocol.tls === null ? "" : `, ${protocol.tls}`}`),
    fact("Connection kept", yesNo(data.connection_reuse.reusable)),
    fact("Elements", dom === null ? null : `${dom.elements}, nested ${dom.depth} deep`),
    fact("Images", images === null ? null : `${images.total}, ${images.lazy} loaded late`),
    ...pageFacts(data),
  );
}

function listChecks({ grade, checks }: Performance) {
  if (grade === null) return null;
  const lost = ({ status, max, score }: Performance["checks"][number]) => (status === "na" ? -1 : max - score);
  return table(
    "Checks",
    ["Check", "Result", "#Points", "Found", "Wanted"],
    checks
      .toSorted((one, other) => lost(other) - lost(one))
      .map(({ name, status, score, max, value, expected }) => ({
        cells: [
          name,
          RESULTS[status],
          status === "na" ? null : `${score} of ${max}`,
          value,
          status === "pass" ? null : expected,
        ],
        tone: status === "fail" ? "warning" : null,
      })),
  );
}

type Resources = ResultOf<typeof contract>["resources"];

const KINDS = {
  image: "images",
  script: "scripts",
  stylesheet: "styles",
  font: "fonts",
  media: "audio and video",
  frame: "frames",
  other: "other",
} as const;

/** Lists the resources of a page: weight by kind, and those that slow it down or do not arrive. */
function listResources(resources: Resources): readonly (Table | null)[] {
  const { failed, third_party: others } = resources;
  return [
    listKinds(resources),
    listSized("Blocks the first paint", resources.render_blocking, resources.render_blocking_total),
    listSized("Sent uncompressed", resources.without_compression, resources.without_compression_total),
    table(
      "Cached for less than a week",
      ["Kind", "Cached for", "Cache-Control", "Address"],
      resources.without_cache.map(({ type, fresh_s: fresh, cache_control: header, url }) => [
        type,
        fresh === null ? "not stated" : writeDuration(fresh),
        header,
        url,
      ]),
      resources.without_cache_total,
    ),
    table(
      "Not loaded",
      ["Reason", "Address"],
      failed.map(({ url, reason }) => ({ cells: [reason, url], tone: "warning" })),
    ),
    table(
      "Other sites",
      ["Host", "#Requests"],
      others.hosts.map(({ host, count }) => [host, count]),
    ),
  ];
}

function listKinds({ count, bytes: sizes }: Resources): Table | null {
  return table(
    "Resources by kind",
    ["Kind", "#Number", "#Size"],
    Object.entries(KINDS)
      .map(([kind, name]) => ({
        name,
        number: count[kind as keyof typeof KINDS],
        size: sizes[kind as keyof typeof KINDS],
      }))
      .filter(({ number }) => number > 0)
      .toSorted((one, other) => other.size - one.size)
      .map(({ name, number, size }) => [name, number, bytes(size)]),
  );
}

/** Lists resources, the largest first. */
function listSized(title: string, rows: Resources["render_blocking"], total: number): Table | null {
  return table(
    title,
    ["#Size", "Kind", "Address"],
    rows
      .toSorted((one, other) => (other.bytes ?? 0) - (one.bytes ?? 0))
      .map(({ bytes: size, type, url }) => [size === null ? "unknown" : bytes(size), type, url]),
    total,
  );
}
