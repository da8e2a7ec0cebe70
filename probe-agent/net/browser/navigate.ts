import type { Page } from "playwright-core";
import type { FromBrowser, PageEnd } from "#probe-agent/net/browser/messages.ts";

/** A wait of some milliseconds. */
interface Time {
  sleep(ms: number): Promise<void>;
}

/** Whether a page has ended before its result. */
export interface Ending {
  /** Resolves when it ends. */
  readonly happened: Promise<null>;
  /** Returns how it ended; null if it has not. */
  now(): PageEnd | null;
  /** The same after a function of the page has failed, which can be a moment before its cause is known. */
  afterFailure(): Promise<PageEnd | null>;
}

/** Time from the failure of a function of the page until its cause is known, in milliseconds. */
const CAUSE_MS = 200;

/** Watches a page for its end. */
export function watchEnd(page: Page, time: Time): Ending {
  let end: PageEnd | null = null;
  const { promise: happened, resolve } = Promise.withResolvers<null>();
  const note = (how: PageEnd): void => {
    end ??= how;
    resolve(null);
  };
  page.once("crash", () => note({ kind: "crashed" }));
  // Only the end of the browser closes a page: Chromium lets no page close itself that no other page opened.
  page.once("close", () => note({ kind: "broken", message: "the process of Chromium ended" }));
  return {
    happened,
    now: () => end,
    async afterFailure() {
      await Promise.race([happened, time.sleep(CAUSE_MS)]);
      return end;
    },
  };
}

/** One navigation. */
interface Navigation {
  readonly url: string;
  readonly budgetMs: number;
  /** Returns the last URL that was requested as the document. */
  readonly documentUrl: () => string | null;
}

/** Texts of playwright for navigations that fail without an error of Chromium, with the error that is meant. */
const WORDS: readonly (readonly [text: RegExp, error: string])[] = [
  [/Download is starting/, "net::ERR_ABORTED"],
  [/Timeout/, "net::ERR_TIMED_OUT"],
];

/** Navigates to a page until its document begins to arrive. Returns why it did not; null if it did. */
export async function navigate(
  page: Page,
  ending: Ending,
  { url, budgetMs, documentUrl }: Navigation,
): Promise<PageEnd | Extract<FromBrowser, { readonly kind: "no_document" }> | null> {
  try {
    await page.goto(url, { waitUntil: "commit", timeout: budgetMs });
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : "";
    const word = /net::ERR_\w+/.exec(message)?.[0] ?? WORDS.find(([text]) => text.test(message))?.[1] ?? null;
    if (word !== null && ending.now() === null) return { kind: "no_document", error: word, url: documentUrl() ?? url };
    return (await ending.afterFailure()) ?? { kind: "broken", message: message.slice(0, 300) };
  }
}
