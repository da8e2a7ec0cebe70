import { fact } from "#shared/presentation/build.ts";
import type { Fact, Verdict } from "#shared/presentation/presentation.ts";
import { shortUrl } from "#shared/presentation/values.ts";
import { worst } from "#shared/presentation/verdict.ts";

/** The fields that every result about one page begins with. */
interface Page {
  readonly url: string;
  readonly final_url: string;
  readonly code: number;
}

/** Returns the checked page for a headline: its address, and its status if it is an error page. */
export function namePage({ final_url: url, code }: Page): string {
  return shortUrl(url) + errorPageNote({ code });
}

/** Ends the headline about a page that is an error page; empty for other pages. */
export function errorPageNote({ code }: Pick<Page, "code">): string {
  return code < 400 ? "" : ` (an error page, status ${code})`;
}

/** Returns the verdict of a page: the worst of some, which an error status worsens. */
export function verdictOfPage({ code }: Page, ...verdicts: readonly Verdict[]): Verdict {
  const tone = toneOfStatus(code);
  return worst(tone === null ? verdicts : [...verdicts, tone]);
}

/** Makes the facts about the address of a page: where redirects led, and an error status. */
export function pageFacts({ url, final_url: final, code }: Page): readonly (Fact | null)[] {
  const tone = toneOfStatus(code);
  return [
    fact("Redirects to", URL.parse(url)?.href === URL.parse(final)?.href ? null : final),
    fact("Status", tone === null ? null : code, { tone }),
  ];
}

function toneOfStatus(code: number): Verdict | null {
  if (code >= 500) return "bad";
  return code >= 400 ? "warning" : null;
}
