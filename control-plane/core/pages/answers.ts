import { fitPresentation } from "#shared/presentation/fit.ts";
import { presentLocations, type LocationAnswer } from "#shared/tools/present-locations.ts";
import { present } from "#shared/tools/present.ts";
import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract } from "#shared/tools/define.ts";
import { html, type Html } from "#control-plane/core/pages/html.ts";
import { renderHeading, renderPresentation } from "#control-plane/core/pages/presentation.ts";

/** Maximum number of locations with a section of their own; the table compares them all. */
const MOST_SECTIONS = 6;
/** Text of the results together, and of each location's section, in characters. Typical results have a tenth. */
const MOST_RESULTS = 16_000;
const MOST_LOCATION = 2_000;

/** The answers of a tool, from one location or several. */
interface Answers {
  /** undefined: the tool does not exist any more. */
  readonly contract: Contract | undefined;
  readonly answers: readonly LocationAnswer[];
  /** Heading where there is no result. */
  readonly title: string;
  /** Lines below the heading. */
  readonly about: readonly string[];
  /** The time that dates are compared with. */
  readonly now: Date;
  /** Level of the heading: h2 on a page that has another one. Default: h1. */
  readonly level?: "h1" | "h2";
}

/** Renders answers by the presentation of their tool: together, then each location of several. */
export function renderAnswers({ contract, answers, title, about, now, level = "h1" }: Answers): Html {
  const lines = about.map((line) => html`<p class="faint">${line}</p>`);
  const [first] = answers;
  if (contract === undefined || first === undefined)
    return html`${renderHeading({ verdict: "neutral", headline: title }, level)}${lines}`;
  if (answers.length === 1 && !first.answer.ok)
    return html`${renderHeading({ verdict: "bad", headline: title }, level)}${lines}${renderFailure(first.answer)}`;
  const whole = presentLocations(contract, answers, now);
  const sections = answers.length === 1 ? [] : answers.slice(0, MOST_SECTIONS);
  return html`
    ${renderHeading(whole, level)}${lines}
    ${renderFitted(whole, MOST_RESULTS, "h2")}
    ${sections.length > 0 && html`<h2>Each location</h2>`}
    ${sections.map((section) => renderLocation(section, contract, now))}`;
}

function renderFailure({ message }: { readonly message: string }): Html {
  return html`<p class="bad">Failed: ${message}</p>`;
}

/** Renders one location of several, folded; its findings are with those of the others. */
function renderLocation({ place, answer }: LocationAnswer, contract: Contract, now: Date): Html {
  const content = answer.ok ? renderOne(contract, answer.data, now) : renderFailure(answer);
  return html`<details><summary>From ${place}</summary>${content}</details>`;
}

function renderOne(contract: Contract, data: unknown, now: Date): Html {
  const shown = present(contract, data, now);
  return html`${renderHeading(shown, "h3")}${renderFitted({ ...shown, findings: [] }, MOST_LOCATION, "h3")}`;
}

function renderFitted(whole: Presentation, characters: number, level: "h2" | "h3"): Html {
  const { shown, left } = fitPresentation(whole, characters);
  return html`${renderPresentation(shown, level)}${left > 0 && html`<p class="faint">The JSON has ${left} more.</p>`}`;
}
