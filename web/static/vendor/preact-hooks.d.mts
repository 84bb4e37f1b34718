// What the page uses of Preact's hooks.

type Set<S> = (next: S | ((now: S) => S)) => void;
type Forget = void | (() => void) | undefined;

export function useState<S>(first: S | (() => S)): [S, Set<S>];
/** A ref of an element is null until it is drawn: no effect and no event comes before. */
export function useRef<T>(first: T | null): { current: T };
export function useMemo<T>(make: () => T, inputs: readonly unknown[]): T;
export function useEffect(effect: () => Forget, inputs?: readonly unknown[]): void;
export function useLayoutEffect(effect: () => Forget, inputs?: readonly unknown[]): void;
