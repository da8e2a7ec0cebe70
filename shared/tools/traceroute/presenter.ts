import { definePresenter } from "#shared/tools/define-presenter.ts";
import { tellTrace } from "#shared/tools/ping/trace.ts";
import { traceroute as contract } from "#shared/tools/traceroute/contract.ts";

/** traceroute: the route as mtr prints it. */
export const traceroute = definePresenter(contract, tellTrace);
