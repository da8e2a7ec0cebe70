import type { Presenter } from "#shared/presentation/presenter.ts";
import { check } from "#shared/presentation/tools/check.ts";
import { ping } from "#shared/presentation/tools/ping.ts";
import { ssl } from "#shared/presentation/tools/ssl.ts";
import { traceroute } from "#shared/presentation/tools/traceroute.ts";

const PRESENTERS: readonly Presenter[] = [check, ping, ssl, traceroute];

/** Every presenter by the name of its tool. */
export const presentersByTool: ReadonlyMap<string, Presenter> = new Map(
  PRESENTERS.map((presenter) => [presenter.contract.name, presenter]),
);
