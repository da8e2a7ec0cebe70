import type { Page } from "playwright-core";
import type { FromBrowser } from "#probe-agent/net/browser/messages.ts";

/** Whether the renderer process of a page has crashed. */
export interface Crash {
  /** Resolves when it crashes. */
  readonly happened: Promise<null>;
  readonly hasHappened: () => boolean;
}

/** Watches a page for a crash. */
export function watchCrash(page: Page): Crash {
  let crashed = false;
  const happened = new Promise<null>((resolve) => {
    page.once("crash", () => {
      crashed = true;
      resolve(null);
    });
  });
  return { happened, hasHappened: () => crashed };
}

/** One navigation. */
interface Navigation {
  readonly url: string;
  readonly budgetMs: number;
  /** Returns the last URL that was requested as the document. */
  readonly documentUrl: () => string | null;
}

/** Navigates to a page until its document begins to arrive. Returns why it did not; null if it did. */
export async function navigate(
  page: Page,
  crash: Crash,
  { url, budgetMs, documentUrl }: Navigation,
): Promise<Extract<FromBrowser, { readonly kind: "crashed" | "broken" | "no_document" }> | null> {
  try {
    await page.goto(url, { waitUntil: "commit", timeout: budgetMs });
    return null;
  } catch (error) {
    if (crash.hasHappened()) return { kind: "crashed" };
    const message = error instanceof Error ? error.message : "";
    const word = /net::ERR_\w+/.exec(message)?.[0] ?? (/Timeout/.test(message) ? "net::ERR_TIMED_OUT" : null);
    return word === null
      ? { kind: "broken", message: message.slice(0, 300) }
      : { kind: "no_document", error: word, url: documentUrl() ?? url };
  }
}
