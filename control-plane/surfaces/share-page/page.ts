import type { PublicMeasurement } from "#control-plane/measurements/public.ts";
import { renderDocument } from "#control-plane/pages/frame.ts";
import { renderHeading, renderPresentation } from "#control-plane/pages/presentation.ts";
import { compileTemplate } from "#control-plane/pages/templates.ts";
import { presentLocations, toLocationAnswer, type LocationAnswer } from "#shared/presentation/locations.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import { fitPresentation } from "#shared/presentation/fit.ts";
import { present } from "#shared/presentation/present.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { Contract } from "#shared/tools/define.ts";

/** Maximum size of the data on the page itself, in characters; the JSON has any. */
const MOST_DATA = 32_000;
/** Maximum number of locations with a section of their own; the table compares them all. */
const MOST_SECTIONS = 6;
/** Text of the results together, and of each location's section, in characters. Typical results have a tenth. */
const MOST_RESULTS = 16_000;
const MOST_LOCATION = 2_000;
const MOST_TEXT = 300;
/** Reload interval of the page of a running measurement, seconds. */
const REFRESH_SECONDS = 5;

const renderAbout: (about: { readonly lines: readonly string[] }) => string = compileTemplate(
  `<% for (const line of it.lines) { %><p class="faint"><%= line %></p><% } %>`,
);
const renderFailure: (failure: { readonly message: string }) => string = compileTemplate(
  `<p class="bad">Failed: <%= it.message %></p>`,
);
const renderLeft: (rest: { readonly left: number }) => string = compileTemplate(
  `<% if (it.left > 0) { %><p class="faint">The JSON has <%= it.left %> more.</p><% } %>`,
);
const renderSummary: (place: { readonly place: string }) => string = compileTemplate(
  `<summary>From <%= it.place %></summary>`,
);
const renderEnd: (end: { readonly data: string | null; readonly jsonPath: string }) => string = compileTemplate(`
<h2>All data</h2>
<% if (it.data !== null) { %><details><summary>Show the data</summary><pre role="group" tabindex="0" aria-label="Data"><%= it.data %></pre></details><% } %>
<p><a href="<%= it.jsonPath %>">This page as JSON</a></p>
`);

/**
 * Renders the page of a shared measurement by the presentation of its tool, absent for a tool that does not exist any
 * more. It needs no script. `now` is the time that dates are compared with.
 */
export function renderSharePage(shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const title = truncate(shown.target === null ? shown.title : `${shown.title}: ${shown.target}`);
  const jsonPath = `/s/${encodeURIComponent(shown.share_id ?? "")}?format=json`;
  const refreshSeconds = shown.finished_at === null ? REFRESH_SECONDS : null;
  const text = JSON.stringify(shown.data, null, 2);
  const body = [
    "<main>",
    renderResults(title, shown, contract, now),
    renderEnd({ data: text.length > MOST_DATA ? null : text, jsonPath }),
    "</main>",
  ];
  return renderDocument({ title, refreshSeconds }, body.join(""));
}

function renderResults(title: string, shown: PublicMeasurement, contract: Contract | undefined, now: Date): string {
  const about = renderAbout({ lines: describeMeasurement(title, shown) });
  const answers = shown.data.locations.map((row) => toLocationAnswer(row));
  const [first] = answers;
  if (contract === undefined || first === undefined)
    return renderHeading({ verdict: "neutral", headline: title }) + about;
  if (answers.length === 1 && !first.answer.ok)
    return renderHeading({ verdict: "bad", headline: title }) + about + renderFailure(first.answer);
  const whole = presentLocations(contract, answers, now);
  const sections = answers.length === 1 ? [] : answers.slice(0, MOST_SECTIONS);
  return [
    renderHeading(whole),
    about,
    renderFitted(whole, MOST_RESULTS, "h2"),
    sections.length === 0 ? "" : "<h2>Each location</h2>",
    ...sections.map((section) => `<details>${renderLocation(section, contract, now)}</details>`),
  ].join("");
}

/** Renders one location of several; its findings are above, with those of the others. */
function renderLocation({ place, answer }: LocationAnswer, contract: Contract, now: Date): string {
  if (!answer.ok) return renderSummary({ place }) + renderFailure(answer);
  const shown = present(contract, answer.data, now);
  return (
    renderSummary({ place }) +
    renderHeading(shown, "h3") +
    renderFitted({ ...shown, findings: [] }, MOST_LOCATION, "h3")
  );
}

function renderFitted(whole: Presentation, characters: number, level: "h2" | "h3"): string {
  const { shown, left } = fitPresentation(whole, characters);
  return renderPresentation(shown, level) + renderLeft({ left });
}

/** Describes the target, the places, the time and the parameters in lines above the results. */
function describeMeasurement(title: string, shown: PublicMeasurement): readonly string[] {
  const { status, completed, total, created_at: asked, finished_at: finished, data } = shown;
  const params = Object.entries(shown.params).map(([name, value]) => `${name} ${textOf(value)}`);
  const [only] = data.locations.length === 1 ? data.locations.map((row) => toLocationAnswer(row).place) : [];
  return [
    [title, only === undefined ? `${total} locations` : `from ${only}`, `asked ${asked}`].join(" · "),
    ...(finished === null ? [`${status}: ${completed} of ${total} locations have answered`] : []),
    ...(params.length === 0 ? [] : [truncate(params.join(", "))]),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function truncate(text: string): string {
  return toPlainLine(text, MOST_TEXT);
}
