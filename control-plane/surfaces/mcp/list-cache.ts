import { LRUCache } from "lru-cache";
import type { Coding } from "#control-plane/http/accept-encoding.ts";
import { codeText, joinCoded, type CodedText } from "#control-plane/http/coded-text.ts";

/** An answer that differs between clients only by the id of the request. */
interface CachedList {
  readonly status: number;
  /** The octets before the id; almost the whole answer, because the library writes the id last. */
  readonly before: CodedText;
  readonly after: Buffer;
}

/** Cached answers of methods whose result depends only on the text of the request. */
interface ListCache {
  /** Returns the answer to a message in a coding; calls `make` once for each wording. */
  get(
    call: { readonly wording: string; readonly id: string | number; readonly coding: Coding },
    make: (standIn: string) => Promise<Response>,
  ): Promise<{ readonly status: number; readonly body: Buffer; readonly coding: Coding }>;
}

/** Placeholder of the id; no client uses it. */
const STAND_IN = "vantage-id-0b1f6c8e";
/** Maximum number of cached lists of at most 64 KB each; wordings differ by toolsets, client name and revision. */
const MOST_WORDINGS = 30;
const LONGEST_WORDING = 10_000;
/** A shorter answer, such as an error, is not compressed. */
const LEAST_CODED = 1_024;

/**
 * Creates an empty cache. The library serialises a list for each request, which takes ten times as long as the rest of the
 * answer; cached octets also need no encoding.
 */
export function createListCache(): ListCache {
  const known = new LRUCache<string, CachedList>({ max: MOST_WORDINGS });
  return {
    async get({ wording, id, coding }, make) {
      let answer = known.get(wording);
      if (answer === undefined) {
        const response = await make(STAND_IN);
        const [before = "", after = ""] = (await response.text()).split(JSON.stringify(STAND_IN), 2);
        answer = { status: response.status, before: codeText(Buffer.from(before)), after: Buffer.from(after) };
        if (response.status === 200 && wording.length <= LONGEST_WORDING) known.set(wording, answer);
      }
      const after = Buffer.concat([Buffer.from(JSON.stringify(id)), answer.after]);
      const fits = answer.before.raw.length < LEAST_CODED ? "identity" : coding;
      return { status: answer.status, body: await joinCoded(fits, answer.before, { after }), coding: fits };
    },
  };
}
