import { existing, fact } from "#shared/presentation/build.ts";
import type { Fact } from "#shared/presentation/presentation.ts";

/** The fields about its page that the result of a tool for pages has. */
interface SeenPage {
  readonly url: string;
  readonly final_url: string;
  readonly code: number;
}

/** Returns the facts about a page that a reader must know to trust the rest: another final URL, and an error page. */
export function pageFacts({ url, final_url: finalUrl, code }: SeenPage): readonly Fact[] {
  return existing(
    fact("Final URL", finalUrl === url ? null : finalUrl),
    fact("Status", code >= 400 ? `${code}: this is about an error page` : null, { tone: "warning" }),
  );
}

/** Ends the headline about a page that is an error page; empty for other pages. */
export function errorPageNote({ code }: Pick<SeenPage, "code">): string {
  return code >= 400 ? ` (an error page, status ${code})` : "";
}
