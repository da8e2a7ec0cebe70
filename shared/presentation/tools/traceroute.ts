import { definePresenter } from "#shared/presentation/presenter.ts";
import { tellTrace } from "#shared/presentation/tools/trace.ts";
import { traceroute as contract } from "#shared/tools/traceroute.ts";

/** traceroute: the route as mtr prints it. */
export const traceroute = definePresenter(contract, tellTrace);
