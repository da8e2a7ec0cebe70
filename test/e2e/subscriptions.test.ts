import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { transact } from "#control-plane/core/database/transaction.ts";
import { dataUri, drawPng } from "#test/support/logos.ts";
import { askWire } from "#test/support/raw-http.ts";
import { serveAt } from "#test/support/verified-domain.ts";
import { BASE, linkIn, startSubscriberWorld, type SubscribedPage } from "#test/support/page-subscribers.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";
import { untilLockIsAwaited } from "#test/support/database-locks.ts";

const world = await stopAfterAll(startSubscriberWorld());
const { plane, clock, createPage, subscribe, mailsTo, mailTo, untilSent } = world;

describe("a link in a mail", () => {
  const multipart = '--x\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--x--\r\n';
  it.each([
    ["a multipart form", { "content-type": 'multipart/form-data; boundary="x"' }, multipart],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, "List-Unsubscribe=One-Click"],
    ["an empty body of a type", { "content-type": "multipart/form-data" }, ""],
    ["no type", {}, multipart],
    ["a malformed type", { "content-type": "form" }, multipart],
    ["a body beyond the limit of other routes", { "content-type": "text/plain" }, "x".repeat(2_000_000)],
  ])("works by one click with %s", async (what, headers, body) => {
    const { slug } = await createPage();
    const email = `${what.replaceAll(" ", "-")}@example.com`;
    await subscribe(slug, email);
    const asked = await mailTo(email, 0);
    for (const [kind, done] of [
      ["confirm", "Subscribed"],
      ["unsubscribe", "Unsubscribed"],
    ] as const) {
      const path =
        kind === "confirm"
          ? linkIn(asked, kind)
          : new URL(asked.header("list-unsubscribe")?.slice(1, -1) ?? "").pathname;
      const answer = await askWire(`${plane.url}${path}`, headers, body);
      expect([answer.status, answer.body.toString()], kind).toEqual([200, expect.stringContaining(`<h1>${done}</h1>`)]);
    }
  });
});

describe("the pages of a subscription", () => {
  it("have the style of the status page and lead to it", async () => {
    const { slug, pageId } = await createPage({ title: "Blue <Shop>", accent_color: "#8250df" });
    const logo = { logo: dataUri(drawPng(400, 100)) };
    await plane.call(`/api/v4/status?id=${pageId}`, { key: world.key, method: "PUT", body: logo });
    const stylesOf = (html: string) => Array.from(html.matchAll(/<style>([^<]*)<\/style>/g), ([, style = ""]) => style);
    const page = (await plane.call(`/status/${slug}`)).text;
    const asked = await subscribe(slug, "style@example.com");
    const confirm = linkIn(await mailTo("style@example.com", 0), "confirm");
    const pages = [asked, await plane.call(confirm), await plane.call(confirm, { method: "POST" })];
    for (const { text, headers } of pages) {
      const styles = stylesOf(text);
      expect([styles.length, styles]).toEqual([2, stylesOf(page)]);
      for (const style of styles)
        expect(headers.get("content-security-policy")).toContain(createHash("sha256").update(style).digest("base64"));
      expect(text).toMatch(
        new RegExp(
          `<a href="/status/${slug}" dir="auto"><img class="logo" src="/status/${slug}/logo/[^"]+" alt="Blue &lt;Shop&gt;" width="160" height="40"></a>`,
        ),
      );
      expect(headers.get("content-security-policy")).toContain("img-src 'self' data:");
      expect(text).not.toContain("Vantage");
      expect(text).toContain(`<meta name="robots" content="noindex">`);
      expect(headers.get("content-security-policy")).toContain("form-action 'self'");
    }
    expect((await plane.call(confirm.replace(/.$/, "~"))).text).not.toContain("Vantage");
  });

  it("are at the page's own domain, for its subscribers alone; the one click is at the service", async () => {
    const domain = "status.letters.example";
    const { slug, ping } = await createPage({ domain });
    await serveAt(plane, domain);
    const other = await createPage();
    await subscribe(other.slug, "other@example.com");
    const theirs = linkIn(await mailTo("other@example.com", 0), "confirm").replace(`/status/${other.slug}`, "");
    const visit = (path: string, host = domain, body?: string) => askWire(`${plane.url}${path}`, { host }, body);
    await subscribe(slug, "own@example.com");
    const asked = await mailTo("own@example.com", 0);
    expect(asked.header("subject")).toBe(`[${domain}] Confirm your subscription`);
    const pathOf = (text: string, kind: string) =>
      new RegExp(`https://${domain}(/${kind}/[0-9A-Za-z_-]+)`).exec(text)?.[1] ?? "";
    const confirm = pathOf(asked.text, "confirm");
    const shown = await visit(confirm);
    expect([shown.status, shown.body.toString()]).toEqual([200, expect.stringContaining(`<a href="/" dir="auto">`)]);
    for (const [path, host] of [
      [theirs, domain],
      [confirm, "nobody.example"],
    ] as const) {
      expect((await visit(path, host)).status).toBe(404);
      expect((await visit(path, host, "")).status).toBe(404);
    }
    expect((await visit(confirm, domain, "")).body.toString()).toContain("<h1>Subscribed</h1>");
    await plane.call(`${ping}/fail`);
    const down = await mailTo("own@example.com", 1);
    expect(down.text).toContain(`https://${domain}/incidents/${down.header("x-service-incident")}`);
    expect(down.header("list-unsubscribe")).toMatch(new RegExp(`^<${BASE}/status/${slug}/unsubscribe/`));
    const unsubscribe = pathOf(down.text, "unsubscribe");
    expect((await visit(unsubscribe, domain, "")).body.toString()).toContain("<h1>Unsubscribed</h1>");
    expect((await visit(unsubscribe)).status).toBe(404);
  });
});

describe("a flood of subscriptions", () => {
  it("at the domain of a page, or at hosts that nobody has, is limited", async () => {
    await createPage({ domain: "status.shop.example" });
    await serveAt(plane, "status.shop.example");
    const post = (host: string, from: string) =>
      askWire(
        `${plane.url}/subscribe`,
        { host, "x-forwarded-for": from, "content-type": "application/x-www-form-urlencoded" },
        "email=domain%40example.com",
      );
    expect((await post("status.shop.example", "203.0.113.6")).status).toBe(200);
    expect((await mailTo("domain@example.com", 0)).text).toContain("https://status.shop.example/confirm/");
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => post(`host-${index}.example`, "203.0.113.7")),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array.from({ length: 10 }, () => 404),
      ...Array.from({ length: 20 }, () => 429),
    ]);
  });

  it("from one client is limited, and to one address too", async () => {
    const { slug } = await createPage();
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => subscribe(slug, `flood-${index}@example.com`, "203.0.113.5")),
    );
    expect(answers.filter(({ status }) => status === 429).length).toBe(20);
    const others: SubscribedPage[] = [];
    for (let count = 0; count < 12; count += 1) others.push(await createPage());
    const emails = ["victim@example.com", "Victim@Example.com"];
    const ask = () => Promise.all(others.map(({ slug: other }, index) => subscribe(other, emails[index % 2] ?? "")));
    // All of them wait for the account that has the pages, and go on at the same time.
    const asking = await transact(plane.app.sql, async (tx) => {
      await tx`select from accounts for update`;
      const pending = ask();
      await untilLockIsAwaited(tx, 5);
      return { pending };
    });
    const asked = await asking.pending;
    expect(asked.map(({ status }) => status)).toEqual(others.map(() => 200));
    await untilSent();
    expect(emails.flatMap(mailsTo)).toHaveLength(3);
  });

  it("to one address gets no more room when the page is made again or the subscription is ended", async () => {
    const { slug, pageId } = await createPage();
    const email = "tired@example.com";
    const first = await subscribe(slug, email);
    const asked = await mailTo(email, 0);
    await plane.call(linkIn(asked, "confirm"), { method: "POST" });
    const unsubscribe = new URL(asked.header("list-unsubscribe")?.slice(1, -1) ?? "").pathname;
    expect((await plane.call(unsubscribe, { method: "POST" })).status).toBe(200);
    const again = await subscribe(slug, email);
    expect((await plane.call(`/api/v4/status?id=${pageId}`, { key: world.key, method: "DELETE" })).status).toBe(200);
    await createPage({ slug });
    const remade = await subscribe(slug, email);
    expect([again, remade].map(({ status, text }) => [status, text])).toEqual([
      [200, first.text],
      [200, first.text],
    ]);
    await untilSent();
    expect(mailsTo(email)).toHaveLength(1);
    // The old link subscribes nobody who has unsubscribed.
    expect((await plane.call(linkIn(asked, "confirm"), { method: "POST" })).status).toBe(404);
    clock.advance(86_400_000);
    await subscribe(slug, email);
    await untilSent();
    expect(mailsTo(email)).toHaveLength(2);
  });

  it("carries no message: the title of the page is one quoted line in the text, and not in the subject", async () => {
    const { slug } = await createPage({ title: `You have won" Visit https://evil.example ${"x".repeat(120)}` });
    await subscribe(slug, "quoted@example.com");
    const asked = await mailTo("quoted@example.com", 0);
    expect(asked.header("subject")).toBe("[status.example.com] Confirm your subscription");
    expect(asked.text.replaceAll(/\s+/g, " ")).toContain(`page "You have won' Visit https://evil.example xxx`);
    expect(asked.text).not.toContain("x".repeat(120));
  });

  it("that nobody confirms leaves room for others, unlike 50,000 subscribers", async () => {
    const { slug, pageId } = await createPage();
    const before = new Date(clock.now().getTime() - 7_200_000);
    await plane.app.sql`
      insert into status_page_subscribers (page_id, email, asked_at)
      select ${pageId}, 'bot-' || n || '@example.com', ${before} from generate_series(1, 50000) as n`;
    await subscribe(slug, "person@example.com");
    await mailTo("person@example.com", 0);
    await plane.app.sql`
      update status_page_subscribers set confirmed_at = ${before} where page_id = ${pageId} and email like 'bot-%'`;
    await subscribe(slug, "late@example.com");
    await untilSent();
    expect(mailsTo("late@example.com")).toEqual([]);
    await plane.app.sql`delete from status_page_subscribers where page_id = ${pageId}`;
  });
});

describe("what is refused:", () => {
  it.each(["", "nobody", "a@b@c", "a@example.com\r\nBcc: all@example.com", `${"x".repeat(300)}@example.com`])(
    "the address %j",
    async (email) => {
      const { slug } = await createPage();
      const { status, text } = await subscribe(slug, email);
      expect(status).toBe(400);
      expect(text).toContain("email: must be a mail address");
    },
  );

  it("a page that does not exist, or that is not public", async () => {
    const { slug } = await createPage({ is_public: false });
    expect((await subscribe(slug, "e@example.com")).status).toBe(404);
    expect((await subscribe("no-such-page", "e@example.com")).status).toBe(404);
  });

  it("links that were changed, and those of the other kind", async () => {
    const { slug } = await createPage();
    await subscribe(slug, "f@example.com");
    const confirm = linkIn(await mailTo("f@example.com", 0), "confirm");
    const broken = [
      `${confirm.slice(0, -1)}${confirm.endsWith("A") ? "B" : "A"}`,
      confirm.replace("/confirm/", "/unsubscribe/"),
      confirm.replace(/\/\d+-/, "/999999-"),
      `/status/${slug}/confirm/x`,
    ];
    for (const path of broken) expect((await plane.call(path, { method: "POST" })).status, path).toBe(404);
  });

  it("a link to confirm after the 48 hours that the mail names", async () => {
    const { slug } = await createPage();
    await subscribe(slug, "slow@example.com");
    const asked = await mailTo("slow@example.com", 0);
    expect(asked.text).toContain("It works for 48 hours.");
    const confirm = linkIn(asked, "confirm");
    clock.advance(48 * 3_600_000 - 1_000);
    expect((await plane.call(confirm)).status).toBe(200);
    clock.advance(2_000);
    expect((await plane.call(confirm, { method: "POST" })).status).toBe(404);
  });
});
