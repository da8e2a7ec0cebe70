import type { Presentation } from "#shared/presentation/presentation.ts";
import type { Contract, ResultOf } from "#shared/tools/define.ts";

/**
 * What a tool's own file says about a result. `verdict`: absent if it follows from the findings; `findings`: absent if
 * they are the result's. A missing list is empty.
 */
export type ToolPresentation = Pick<Presentation, "headline"> & Partial<Presentation>;

/** Presents the results of one tool. */
export interface Presenter {
  readonly contract: Contract;
  /** `data` is valid by the contract. `now` is the time that dates are compared with. */
  tell(data: unknown, now: Date): ToolPresentation;
}

/** Returns a presenter whose function receives the exact type of the contract's result. */
export function definePresenter<C extends Contract>(
  contract: C,
  tell: (data: ResultOf<C>, now: Date) => ToolPresentation,
): Presenter {
  return { contract, tell: (data, now) => tell(data as ResultOf<C>, now) };
}
