import { expect } from "vitest";
import type { Service } from "#test/lab/lab.ts";
import { PLACES } from "#test/lab/services/product.ts";
import type { Region } from "#test/lab/topology.ts";

/** Answer of one location. */
export interface Answered<T> {
  readonly location: { readonly region: string };
  readonly status: "ok" | "failed";
  readonly data: T;
  readonly error: {
    readonly stage: string;
    readonly source: string;
    readonly reason: string;
    readonly message: string;
  };
}

/** Calls the lab's product by its API with a separate key. */
export interface ApiClient {
  /** Returns a tool's answer from one region (default: eu), also a failure. */
  ask<T>(tool: string, params: Readonly<Record<string, string | number>>, region?: Region): Promise<Answered<T>>;
  /** Returns a tool's result. Throws if there is none. */
  getResult<T>(tool: string, params: Readonly<Record<string, string | number>>, region?: Region): Promise<T>;
}

/** Creates a key and a caller that uses it. */
export async function createApiClient({ plane }: Service): Promise<ApiClient> {
  const key = await plane.createKey();
  const ask: ApiClient["ask"] = async <T>(
    tool: string,
    params: Readonly<Record<string, string | number>>,
    region: Region = "eu",
  ) => {
    const query = new URLSearchParams({ locations: PLACES[region].region });
    for (const [name, value] of Object.entries(params)) query.set(name, `${value}`);
    const { text, status, body } = await plane.call(`/api/v4/${tool}?${query.toString()}`, { key, timeoutMs: 40_000 });
    expect(status, text).toBe(200);
    const [row] = (body.data as { readonly locations: readonly Answered<T>[] }).locations;
    if (row === undefined) throw new Error(text);
    return row;
  };
  return {
    ask,
    async getResult<T>(tool: string, params: Readonly<Record<string, string | number>>, region: Region = "eu") {
      const row = await ask<T>(tool, params, region);
      if (row.status !== "ok") throw new Error(JSON.stringify(row.error));
      return row.data;
    },
  };
}
