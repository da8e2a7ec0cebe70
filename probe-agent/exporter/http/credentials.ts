import { isRecord } from "#shared/text/is-record.ts";
import { readSecret } from "#probe-agent/exporter/read-secret.ts";
import type { HttpOptions, Oauth2Options, Secret } from "#shared/blackbox/module.ts";

/** The value of a field Authorization; null: none. Or why it cannot be made. */
type Credentials = { readonly value: string | null } | { readonly fault: string };

/** Requests a token: sends a form with an Authorization to the token endpoint, and returns the body of a 2xx answer. */
export type PostForm = (
  oauth2: Oauth2Options,
  form: URLSearchParams,
  authorization: string | null,
) => Promise<{ readonly code: number; readonly body: string } | { readonly fault: string }>;

/** Returns the credentials of a module. Secrets in files are read now, without white space around them. */
export async function authorize(options: HttpOptions, postForm: PostForm): Promise<Credentials> {
  const { basic_auth: basic, authorization, oauth2 } = options;
  if (basic !== null) {
    const username = await readLine(basic.username);
    const password = await readLine(basic.password);
    if ("fault" in username) return username;
    if ("fault" in password) return password;
    return { value: basicPair(username.text, password.text) };
  }
  if (authorization !== null) {
    const credentials = await readLine(authorization.credentials);
    return "fault" in credentials ? credentials : { value: `${authorization.type} ${credentials.text}` };
  }
  return oauth2 === null ? { value: null } : await requestToken(oauth2, postForm);
}

async function readLine(secret: Secret): ReturnType<typeof readSecret> {
  const read = await readSecret(secret);
  return "fault" in read || "text" in secret ? read : { text: read.text.trim() };
}

/**
 * Requests a token by the client's own credentials (RFC 6749 section 4.4), which are sent as Basic first and in the form
 * if the server refuses that.
 */
async function requestToken(oauth2: Oauth2Options, postForm: PostForm): Promise<Credentials> {
  const secret = await readLine(oauth2.client_secret);
  if ("fault" in secret) return secret;
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (oauth2.scopes.length > 0) form.set("scope", oauth2.scopes.join(" "));
  for (const [name, value] of Object.entries(oauth2.endpoint_params)) form.set(name, value);
  // Both are form-encoded before they are a pair (RFC 6749 section 2.3.1).
  const encode = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
  const pair = basicPair(encode(oauth2.client_id), encode(secret.text));
  let answer = await postForm(oauth2, form, pair);
  if (!("fault" in answer) && !isSuccess(answer.code)) {
    form.set("client_id", oauth2.client_id);
    form.set("client_secret", secret.text);
    answer = await postForm(oauth2, form, null);
  }
  if ("fault" in answer) return { fault: `oauth2: cannot fetch token: ${answer.fault}` };
  if (!isSuccess(answer.code)) return { fault: `oauth2: cannot fetch token: the answer is ${answer.code}` };
  const token = readToken(answer.body);
  return token === null ? { fault: "oauth2: server response missing access_token" } : { value: token };
}

function isSuccess(code: number): boolean {
  return code >= 200 && code < 300;
}

/** Reads access_token and token_type of an answer (RFC 6749 section 5.1) as the value of Authorization. */
function readToken(body: string): string | null {
  let answer: unknown;
  try {
    answer = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isRecord(answer)) return null;
  const { access_token: token, token_type: type } = answer;
  if (typeof token !== "string" || !/^[\u0021-\u007e]{1,8192}$/.test(token)) return null;
  const named = typeof type === "string" && /^[A-Za-z-]{1,32}$/.test(type) ? type : "Bearer";
  return `${named.toLowerCase() === "bearer" ? "Bearer" : named} ${token}`;
}

function basicPair(username: string, password: string): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

/** Returns the credentials that a URL has before its host as the value of Authorization; null if it has none. */
export function basicOf({ username, password }: URL): string | null {
  return username === "" && password === "" ? null : basicPair(decode(username), decode(password));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
