import { Parser } from "htmlparser2";
import type { TestControlPlane } from "#test/support/control-plane.ts";

/** A page of the dashboard, or the redirect to one. */
export interface DashboardAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
  /** Where a redirect leads; null if it is none. */
  readonly location: string | null;
  /** Value of `_csrf` in the forms of the page; null if it has none. */
  readonly csrf: string | null;
}

/** Fields of a form; a list is a field with several values. */
export type FormFields = Readonly<Record<string, string | readonly string[]>>;

/** A browser without JavaScript: it keeps the cookies, and follows no redirect. */
export interface Browser {
  /** The value of the session's cookie; null if nobody is signed in. */
  cookie: string | null;
  /** The value of the device's cookie; null if it has none. */
  device: string | null;
  /** Loads a page. */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<DashboardAnswer>;
  /** Sends a form with the Origin of the service. `_csrf` is the session's unless it is given. */
  post(path: string, fields?: FormFields, headers?: Readonly<Record<string, string>>): Promise<DashboardAnswer>;
  /** Sends a form with files in the same way; an empty file is a field in which none was chosen. */
  postFiles(
    path: string,
    fields?: FormFields,
    files?: Readonly<Record<string, Buffer>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<DashboardAnswer>;
}

/** Password of the users whom helpers create. */
export const PASSWORD = "correct horse battery staple";

/** The name of the session's cookie. */
export const COOKIE = "vantage_session";

/**
 * Opens a browser at a control plane. `address`: the client's address, where the plane trusts the proxy 127.0.0.1 to
 * give it.
 */
export function openBrowser({ url }: Pick<TestControlPlane, "url">, address?: string): Browser {
  let csrf: string | null = null;
  const browser: Browser = {
    cookie: null,
    device: null,
    get: (path, headers = {}) => load(path, { headers }),
    async post(path, fields = {}, headers = {}) {
      const body = new URLSearchParams();
      await fill(body, fields);
      return load(path, { method: "POST", body, headers: { origin: url, ...headers } });
    },
    async postFiles(path, fields = {}, files = {}, headers = {}) {
      const body = new FormData();
      await fill(body, fields);
      for (const [name, content] of Object.entries(files))
        body.append(name, new Blob([new Uint8Array(content)]), content.length === 0 ? "" : "logo.png");
      return load(path, { method: "POST", body, headers: { origin: url, ...headers } });
    },
  };

  async function fill(body: URLSearchParams | FormData, fields: FormFields): Promise<void> {
    if (csrf === null && browser.cookie !== null) await browser.get("/app/monitors");
    for (const [name, value] of Object.entries({ ...(csrf === null ? {} : { _csrf: csrf }), ...fields }))
      for (const one of typeof value === "string" ? [value] : value) body.append(name, one);
  }

  async function load(
    path: string,
    { headers, ...init }: Omit<RequestInit, "headers"> & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<DashboardAnswer> {
    const response = await fetch(`${url}${path}`, {
      ...init,
      redirect: "manual",
      headers: {
        ...cookiesOf(browser),
        ...(address === undefined ? {} : { "x-forwarded-for": address }),
        ...headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      browser.device = /^vantage_device=([^;]*)/.exec(line)?.[1] ?? browser.device;
      const value = new RegExp(`^${COOKIE}=([^;]*)`).exec(line)?.[1];
      if (value === undefined) continue;
      browser.cookie = value === "" ? null : value;
      csrf = null;
    }
    const html = await response.text();
    const found = /name="_csrf" value="([^"]*)"/.exec(html)?.[1] ?? null;
    if (found !== null) csrf = found;
    const location = response.headers.get("location");
    return { status: response.status, headers: response.headers, html, location, csrf: found };
  }
  return browser;
}

function cookiesOf({ cookie, device }: Pick<Browser, "cookie" | "device">): { readonly cookie?: string } {
  const all = [
    ...(cookie === null ? [] : [`${COOKIE}=${cookie}`]),
    ...(device === null ? [] : [`vantage_device=${device}`]),
  ];
  return all.length === 0 ? {} : { cookie: all.join("; ") };
}

/** Creates an account with an owner, who is signed in by a start link. */
export async function signInOwner(
  plane: Pick<TestControlPlane, "url" | "operate">,
  email = "owner@example.com",
  { accountId, address }: { readonly accountId?: number; readonly address?: string } = {},
): Promise<{ readonly browser: Browser; readonly accountId: number }> {
  const id = accountId ?? (await createAccount(plane));
  const browser = openBrowser(plane, address);
  const started = await browser.post(await startPath(plane, id), { email, password: PASSWORD });
  if (started.status !== 303) throw new Error(`the start link answered ${started.status}: ${started.html}`);
  return { browser, accountId: id };
}

/** Signs a user in by the form. */
export async function signIn(
  plane: Pick<TestControlPlane, "url">,
  email: string,
  { password = PASSWORD, address }: { readonly password?: string; readonly address?: string } = {},
): Promise<Browser> {
  const browser = openBrowser(plane, address);
  const answer = await browser.post("/sign-in", { email, password });
  if (answer.status !== 303) throw new Error(`the sign-in answered ${answer.status}: ${answer.html}`);
  return browser;
}

/** Creates an account with the plan captain, and a key. Returns its id. */
export async function createAccount(plane: Pick<TestControlPlane, "operate">): Promise<number> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { plan: "captain" });
  return (body.data as { account_id: number }).account_id;
}

/** Returns the path of a new start link of an account. */
export async function startPath(plane: Pick<TestControlPlane, "operate">, accountId: number): Promise<string> {
  const { body } = await plane.operate("POST", "/api/admin/sign-in-links", { account_id: accountId });
  return new URL((body.data as { url: string }).url).pathname;
}

/** Returns the fields of the form of a page with this action, as a browser would send them without a button. */
export function fieldsOfForm(html: string, action: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let isInside = false;
  let area: string | null = null;
  let select: string | null = null;
  const parser = new Parser({
    onopentag(tag, { name = "", value = "", type = "text", ...rest }) {
      if (tag === "form") isInside = rest["action"] === action;
      if (!isInside) return;
      if (tag === "textarea") [area, fields[name]] = [name, ""];
      else if (tag === "select") select = name;
      else if (tag === "option" && select !== null && ("selected" in rest || fields[select] === undefined))
        fields[select] = value;
      else if (tag === "input" && (type !== "checkbox" || "checked" in rest)) fields[name] = value;
    },
    ontext(text) {
      if (area !== null) fields[area] = `${fields[area] ?? ""}${text}`;
    },
    onclosetag(tag) {
      if (tag === "form") isInside = false;
      // A line feed right after the tag belongs to the markup.
      if (tag === "textarea" && area !== null) fields[area] = (fields[area] ?? "").replace(/^\n/, "");
      if (tag === "textarea") area = null;
      if (tag === "select") select = null;
    },
  });
  parser.end(html);
  return fields;
}

/** Lets a new user with this role into an account. */
export async function joinAccount(
  plane: Pick<TestControlPlane, "url" | "operate">,
  accountId: number,
  role: "owner" | "editor" | "viewer",
): Promise<Browser> {
  const email = `${role}-${accountId}@example.com`;
  const { body } = await plane.operate("POST", "/api/admin/invites", { account_id: accountId, role, email });
  const browser = openBrowser(plane);
  const joined = await browser.post(`/invite/${(body.data as { token: string }).token}`, { email, password: PASSWORD });
  if (joined.status !== 303) throw new Error(`the invite answered ${joined.status}: ${joined.html}`);
  return browser;
}

/** Creates a key of an account. */
export async function createAccountKey(plane: Pick<TestControlPlane, "operate">, accountId: number): Promise<string> {
  const { body } = await plane.operate("POST", "/api/admin/keys", { account_id: accountId });
  return (body.data as { key: string }).key;
}

/** Lists the newest 100 keys of an account. */
export async function listKeys(
  plane: Pick<TestControlPlane, "operate">,
  accountId: number,
): Promise<readonly { readonly id: number; readonly name: string | null }[]> {
  const { body } = await plane.operate("GET", `/api/admin/keys?account_id=${accountId}&per_page=100`);
  return body.data;
}

/** A member of an account. */
export interface ShownMember {
  readonly id: number;
  readonly email: string;
  readonly role: string;
  readonly isConfirmed: boolean;
}

/** Lists the members of an account as their page shows them to this owner, in the order in which they joined. */
export async function listMembers(owner: Browser): Promise<readonly ShownMember[]> {
  const { html } = await owner.get("/app/members");
  const rows = html.matchAll(
    /<tr><th scope="row">([^<]*)(.*?)<\/th>.*?"\/app\/members\/(\d+)\/role".*?<option value="(\w+)" selected>/gs,
  );
  return Array.from(rows, ([, email = "", badges = "", id, role = ""]) => {
    return { id: Number(id), email: email.trim(), role, isConfirmed: !badges.includes("not confirmed") };
  });
}

/** Returns the id of a member of an account, for this owner; 0: there is no such member. */
export async function memberIdOf(owner: Browser, email: string): Promise<number> {
  return (await listMembers(owner)).find((member) => member.email === email)?.id ?? 0;
}

/** Returns the id of the session that the user of a browser has begun from another address. */
export async function sessionFrom(browser: Browser, address: string): Promise<number> {
  const { html } = await browser.get("/app/profile");
  return Number(new RegExp(`name="id" value="(\\d+)">\\s*<button aria-label="[^"]* from ${address}"`).exec(html)?.[1]);
}
