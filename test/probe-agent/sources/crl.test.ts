import { describe, expect, it } from "vitest";
import { lookUpInList } from "#probe-agent/sources/revocation.ts";
import type { Fetched, Fetches } from "#probe-agent/sources/fetch-budget.ts";
import { certificateList, manyEntries } from "#test/servers/crl.ts";
import { createPki } from "#test/servers/pki.ts";
import { parsed } from "#test/servers/signing.ts";

const pki = await createPki();
const leaf = await pki.issue({ dns: ["leaf.test"] });
const subject = { certificate: parsed(leaf), issuer: parsed(pki.intermediate), now: new Date() };
const SMALL: Fetched = { ok: true, octets: certificateList({ issuer: pki.intermediate }) };

/** Creates fetches that answer as the test says, and records each fetch. */
function fetching(answer: (url: string) => Fetched | Promise<Fetched>, patience = 5000) {
  const urls: string[] = [];
  const fetches: Fetches = {
    patienceMs: (wait) => Math.min(wait, patience),
    fetch({ url }) {
      urls.push(url);
      return Promise.resolve(answer(url));
    },
  };
  return { fetches, urls };
}

/** A list URL that no other test uses. */
const place = (() => {
  let count = 0;
  return () => `http://lists.test/${(count += 1)}`;
})();

describe("revocation lists", () => {
  it("are fetched four at a time, over all jobs", async () => {
    const gate = Promise.withResolvers<Fetched>();
    const { fetches, urls } = fetching(() => gate.promise);
    const first = Array.from({ length: 4 }, place).map((url) => lookUpInList(fetches, url, subject));
    expect(await lookUpInList(fetches, place(), subject)).toMatchObject({ result: null, error: "busy" });
    gate.resolve(SMALL);
    const answers = await Promise.all(first);
    expect(answers.map(({ result }) => result?.status)).toEqual(["good", "good", "good", "good"]);
    expect(urls).toHaveLength(4);
    expect(await lookUpInList(fetches, place(), subject)).toMatchObject({ result: { status: "good" } });
  });

  it("are awaited by other jobs only until those jobs end, whatever happens to the first job", async () => {
    const gate = Promise.withResolvers<Fetched>();
    const url = place();
    const first = lookUpInList(fetching(() => gate.promise).fetches, url, subject);
    const hasty = fetching(() => SMALL, 10);
    expect(await lookUpInList(hasty.fetches, url, subject)).toMatchObject({ result: null, error: "timeout" });
    expect(hasty.urls).toEqual([]);
    gate.resolve({ ok: false, error: "reset" });
    expect(await first).toMatchObject({ result: null, error: "reset" });
    expect(await lookUpInList(hasty.fetches, url, subject)).toMatchObject({ result: { status: "good" } });
  });

  it("are kept up to four, and the least recently used one is dropped", async () => {
    const { fetches, urls } = fetching(() => SMALL);
    const [a, b, c, d, e] = Array.from({ length: 5 }, place) as [string, string, string, string, string];
    for (const url of [a, b, c, d, a, e]) await lookUpInList(fetches, url, subject);
    expect(urls).toEqual([a, b, c, d, e]);
    await lookUpInList(fetches, a, subject);
    expect(urls).toHaveLength(5);
    await lookUpInList(fetches, b, subject);
    expect(urls).toHaveLength(6);
  });

  it("are kept up to a total of twenty megabytes", async () => {
    const rawEntries = manyEntries(260_000);
    const big: Fetched = { ok: true, octets: certificateList({ issuer: pki.intermediate, rawEntries }) };
    const { fetches, urls } = fetching(() => big);
    const [a, b, c] = Array.from({ length: 3 }, place) as [string, string, string];
    for (const url of [a, b, c, c, b]) await lookUpInList(fetches, url, subject);
    expect(urls).toEqual([a, b, c]);
    await lookUpInList(fetches, a, subject);
    expect(urls).toHaveLength(4);
  });
});
