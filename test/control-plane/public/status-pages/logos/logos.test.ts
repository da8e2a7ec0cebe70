import { describe, expect, it } from "vitest";
import { MOST_LOGO_BYTES } from "#control-plane/public/status-pages/logos/logo.ts";
import { errorOf, startPageWorld, URL as STATUS } from "#test/control-plane/public/status-pages/world.ts";
import { dataUri, drawPng, PICTURES } from "#test/support/logos.ts";
import { askWire } from "#test/support/raw-http.ts";
import { serveAt } from "#test/support/verified-domain.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const PNG = drawPng(320, 80);

const world = await stopAfterAll(startPageWorld());
const owner = await world.owner();

interface Made {
  readonly id: number;
  readonly slug: string;
  readonly logo_url: string | null;
}

async function create(more: object, as = owner): Promise<Made> {
  return (await world.createPage(as, more)) as Made;
}

/** Asks for a path from an address that nobody else has. */
let visitors = 0;
function ask(path: string, headers: Record<string, string> = {}) {
  visitors += 1;
  const from = `10.9.${visitors >> 8}.${visitors & 255}`;
  return askWire(`${world.url}${path}`, { "x-forwarded-for": from, ...headers });
}

const pathOf = ({ logo_url: url }: Made): string => new URL(url ?? "").pathname;

describe("the logo of a page", () => {
  it("is sent as it was given, for ever, and runs and loads nothing", async () => {
    const made = await create({ logo: dataUri(PNG) });
    expect(made).not.toHaveProperty("logo");
    expect(made.logo_url).toMatch(
      new RegExp(`^${world.app.config.baseUrl}/status/${made.slug}/logo/[\\w-]{22}\\.png$`),
    );
    const sent = await ask(pathOf(made));
    expect([sent.status, sent.body.equals(PNG)]).toEqual([200, true]);
    expect(sent.headers).toMatchObject({
      "content-type": "image/png",
      "content-length": String(PNG.length),
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringMatching(/^default-src 'none'/),
    });
    const again = await ask(pathOf(made), { "if-none-match": sent.headers.etag ?? "" });
    expect([again.status, again.body.length]).toEqual([304, 0]);
  });

  it.each([
    ["jpeg", "image/jpeg", "jpg"],
    ["vp8x", "image/webp", "webp"],
  ] as const)("has the type of its bytes, not that of its data URI: %s", async (name, type, extension) => {
    const content = Buffer.from(PICTURES[name], "base64");
    const made = await create({ logo: dataUri(content, "text/html") });
    expect(made.logo_url?.endsWith(`.${extension}`)).toBe(true);
    const sent = await ask(pathOf(made));
    expect([sent.headers["content-type"], sent.body.equals(content)]).toEqual([type, true]);
  });

  it("is shown instead of the title, with the title as its text, in a size that is known before it is there", async () => {
    const made = await create({ title: "Acme <Shop>", logo: dataUri(PNG) });
    const image = `<img class="logo" src="${pathOf(made)}" alt="Acme &lt;Shop&gt;" width="160" height="40">`;
    const page = await ask(`/status/${made.slug}`);
    expect(page.body.toString()).toContain(`<h1 dir="auto">${image}</h1>`);
    expect(page.headers["content-security-policy"]).toContain("img-src 'self' data:;");
    const below = await ask(`/status/${made.slug}/history`);
    expect(below.body.toString()).toContain(`<a href="/status/${made.slug}" dir="auto">${image}</a>`);
    expect(below.headers["content-security-policy"]).toContain("img-src 'self' data:;");
  });

  it("is at the page's own domain, and at no other", async () => {
    const domain = "status.logo.example";
    const made = await create({ domain, logo: dataUri(PNG) });
    await serveAt(world, domain);
    const shown = (await world.call(`${STATUS}?id=${made.id}`, { key: owner.key })).body.data as Made;
    expect(shown.logo_url).toMatch(/^http:\/\/status\.logo\.example\/logo\/[\w-]{22}\.png$/);
    const sent = await ask(pathOf(shown), { host: domain });
    expect([sent.status, sent.headers["content-type"]]).toEqual([200, "image/png"]);
    expect((await ask("/", { host: domain })).body.toString()).toContain(`src="${pathOf(shown)}"`);
    expect((await ask(pathOf(shown))).status).toBe(404);
    expect((await ask(pathOf(shown), { host: "other.example" })).status).toBe(404);
    const other = await create({ logo: dataUri(PNG) });
    expect((await ask(pathOf(other), { host: domain })).status).toBe(404);
  });

  it("of a private page is for keys of its account alone, and kept by nobody", async () => {
    const made = await create({ is_public: false, logo: dataUri(PNG) });
    const stranger = await world.owner();
    const missing = await ask(`/status/no-such-page/logo/${pathOf(made).split("/").at(-1)}`);
    for (const headers of [{}, { "x-api-key": stranger.key }]) {
      const refused = await ask(pathOf(made), headers);
      expect([refused.status, refused.headers["content-type"]]).toEqual([404, missing.headers["content-type"]]);
      expect(refused.headers["cache-control"]).toBe("no-store");
    }
    const sent = await ask(pathOf(made), { "x-api-key": owner.key });
    expect([sent.status, sent.headers["cache-control"]]).toEqual([200, "private, no-store"]);
    await world.put(owner, made.id, { is_public: true });
    await expect.poll(async () => (await ask(pathOf(made))).status).toBe(200);
  });

  it("has another address when it changes, and none when it is removed; the log has its facts, not its bytes", async () => {
    const made = await create({ logo: dataUri(PNG) });
    const other = drawPng(10, 10);
    const changed = (await world.put(owner, made.id, { logo: dataUri(other) })).body.data as Made;
    expect(changed.logo_url).not.toBe(made.logo_url);
    await expect.poll(async () => (await ask(pathOf(changed))).body.equals(other)).toBe(true);
    expect((await ask(pathOf(made))).status).toBe(404);
    expect((await world.put(owner, made.id, { title: "Other" })).body.data).toMatchObject({
      logo_url: changed.logo_url,
    });
    // An answer that is sent back changes nothing.
    expect((await world.put(owner, made.id, changed)).body.data).toMatchObject({ logo_url: changed.logo_url });
    expect((await world.put(owner, made.id, { logo: null })).body.data).toMatchObject({ logo_url: null });
    await expect.poll(async () => (await ask(pathOf(changed))).status).toBe(404);
    expect(await world.app.sql`select from status_page_logos where page_id = ${made.id}`).toHaveLength(0);
    const log = await world.call(`/api/v4/changes?type=status_page&id=${made.id}`, { key: owner.key });
    expect(log.text).toMatch(
      /"field":"logo","before":"image\/png, 320 x 80 pixels, SHA-256 [\w-]{22}","after":"image\/png, 10 x 10/,
    );
    expect(log.text).not.toContain(other.toString("base64").slice(0, 40));
  });

  it("is not in lists of pages, and goes with its page and its account, which takes it along", async () => {
    const leaving = await world.owner();
    const logo = dataUri(PNG);
    const [first] = [await create({ logo }, leaving), await create({ logo }, leaving)];
    const list = await world.call(STATUS, { key: leaving.key });
    expect(list.text).not.toContain("base64");
    await world.remove(leaving, first.id);
    const count = async () => (await world.app.sql`select from status_page_logos where content = ${PNG}`).length;
    const before = await count();
    const erased = await world.operate("DELETE", `/api/admin/accounts?id=${leaving.accountId}&export=1`);
    const { export: taken } = erased.body.data as { export: { status_pages: unknown } };
    expect(taken.status_pages).toMatchObject([{ logo }]);
    expect(await count()).toBe(before - 1);
  });
});

describe("a refused logo names the field and what is allowed", () => {
  const large = Buffer.concat([drawPng(5, 3), Buffer.alloc(MOST_LOGO_BYTES)]);
  it.each([
    ["an address", "https://www.example.com/logo.png", "type", "a data URI"],
    ["base64 without a data URI", PICTURES.jpeg, "type", "a data URI"],
    ["a data URI without base64", "data:image/png,abc", "type", "a data URI"],
    ["other characters in base64", "data:image/png;base64,iVBOR w0KGgo", "type", "a data URI"],
    ["nothing in it", "data:image/png;base64,", "type", "PNG, JPEG or WebP"],
    ["a GIF", dataUri(Buffer.from("GIF89a\u0005\0\u0003\0")), "type", "PNG, JPEG or WebP"],
    ["an SVG", dataUri(Buffer.from("<svg/>"), "image/svg+xml"), "type", "PNG, JPEG or WebP"],
    ["an SVG that says it is a PNG", dataUri(Buffer.from("<svg/>")), "type", "PNG, JPEG or WebP"],
    ["a damaged PNG", dataUri(drawPng(5, 3).subarray(0, 20)), "type", "damaged"],
    ["too many bytes", dataUri(large), "range", "64 KB"],
    ["too many pixels", dataUri(drawPng(2_001, 1)), "range", "2,000 x 2,000 pixels"],
    ["an empty text", "", "range", "characters"],
    ["a number", 5, "type", "string"],
  ])("%s", async (_what, logo, reason, allowed) => {
    const answer = await world.post(owner, { title: "Shop", slug: "refused-logo", logo });
    expect(errorOf(answer)).toEqual([400, "missing_parameter", "logo", reason]);
    expect(answer.body.error["message"]).toContain(allowed);
  });

  it("but takes one of exactly the largest size", async () => {
    const whole = Buffer.concat([drawPng(2_000, 1), Buffer.alloc(MOST_LOGO_BYTES)]).subarray(0, MOST_LOGO_BYTES);
    const made = await create({ logo: dataUri(whole) });
    expect((await ask(pathOf(made))).body.equals(whole)).toBe(true);
  });
});
