import { existing, fact } from "#shared/presentation/build.ts";
import type { Fact, Verdict } from "#shared/presentation/presentation.ts";
import { shortUrl } from "#shared/presentation/values.ts";
import { worst } from "#shared/presentation/verdict.ts";

/** The fields about its page that the result of a tool for pages has. */
interface SeenPage {
  readonly url: string;
  readonly final_url: string;
  readonly code: number;
}

/** Returns the facts about a page that a reader must know to trust the rest: another final URL, and an error page. */
export function pageFacts({ url, final_url: finalUrl, code }: SeenPage): readonly Fact[] {
  return existing(
    fact("Final URL", URL.parse(url)?.href === URL.parse(finalUrl)?.href ? null : finalUrl),
    fact("Status", code >= 400 ? `${code}: this is about an error page` : null, { tone: toneOfStatus(code) }),
  );
}

/** Ends the headline about a page that is an error page; empty for other pages. */
export function errorPageNote({ code }: Pick<SeenPage, "code">): string {
  return code >= 400 ? ` (an error page, status ${code})` : "";
}

/** Returns the checked page for a headline: its address, and its status if it is an error page. */
export function namePage(page: SeenPage): string {
  return shortUrl(page.final_url) + errorPageNote(page);
}

/** Returns the verdict of a page: the worst of some, which an error status worsens. */
export function verdictOfPage({ code }: Pick<SeenPage, "code">, ...verdicts: readonly Verdict[]): Verdict {
  const tone = toneOfStatus(code);
  return worst(tone === null ? verdicts : [...verdicts, tone]);
}

function toneOfStatus(code: number): Verdict | null {
  if (code >= 500) return "bad";
  return code >= 400 ? "warning" : null;
}
