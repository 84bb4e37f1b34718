// htm makes calls of a template.
type Template<T> = (strings: TemplateStringsArray, ...values: unknown[]) => T;

declare const htm: {
  bind<T>(h: (type: unknown, props: object | null, ...children: unknown[]) => T): Template<T>;
};
export default htm;
