import { gatherExpressions } from "#test/laws/expressions/gather.ts";
import { faultOf } from "#test/laws/expressions/check.ts";
const { expressions } = await gatherExpressions();
for (const e of expressions.filter((x) => process.argv.slice(2).some((w) => x.place.includes(w)))) { const t = performance.now(); console.log(e.place, e.source.slice(0, 80), await faultOf(e), performance.now() - t); }
