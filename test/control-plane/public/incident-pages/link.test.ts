import { describe, expect, it } from "vitest";
import { createPageLink, makeToken, readToken, type Link } from "#control-plane/public/incident-pages/link.ts";
import { createEncryption } from "#control-plane/core/secrets/encryption.ts";
import { systemRandom } from "#test/support/clock.ts";
import { MASTER_KEY } from "#test/support/master-key.ts";

const encryption = createEncryption(MASTER_KEY, systemRandom);
const LINK: Link = { subject: { incidentId: 12 }, recipientId: 45, expiresAt: new Date("2026-12-31T00:00:00Z") };
const TOKEN = makeToken(encryption, LINK);

describe("the token of a link", () => {
  it("names one incident or event, one recipient and its end", () => {
    expect(readToken(encryption, TOKEN)).toEqual(LINK);
    const event: Link = { ...LINK, subject: { eventId: "evt_a-B_9" } };
    expect(readToken(encryption, makeToken(encryption, event))).toEqual(event);
  });

  it("is none once anything of it was altered", () => {
    for (let at = 0; at < TOKEN.length; at += 1) {
      for (const other of ["0", "A", ".", ""]) {
        const altered = TOKEN.slice(0, at) + other + TOKEN.slice(at + 1);
        if (altered !== TOKEN) expect(readToken(encryption, altered)).toBeNull();
      }
    }
    const [signature = "", ...rest] = TOKEN.split(".");
    for (const text of ["13.45", "12.46", "012.45"]) {
      expect(readToken(encryption, `${signature}.${text}.${rest[2]}`)).toBeNull();
    }
    expect(readToken(createEncryption(new Uint8Array(32).fill(9), systemRandom), TOKEN)).toBeNull();
  });

  it("is the same for the same mail, works for 30 days, and ends in a letter or digit", () => {
    const link = createPageLink(encryption, "https://v.example");
    const mail = { incidentId: 12, eventId: "evt_1", recipientId: 45, createdAt: new Date("2026-12-01T00:00:00Z") };
    expect(link(mail)).toBe(link(mail));
    expect(link(mail)).toMatch(/^https:\/\/v\.example\/i\/[^/]+[0-9a-z]$/);
    expect(readToken(encryption, link(mail).split("/i/")[1] ?? "")).toEqual(LINK);
  });
});
