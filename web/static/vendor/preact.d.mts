// What the page uses of Preact.

/** Something that Preact can draw. */
export interface VNode {
  type: unknown;
  props: unknown;
  key: unknown;
}

export function h(type: unknown, props: object | null, ...children: unknown[]): VNode;
export function render(drawn: VNode | VNode[], into: Element): void;
