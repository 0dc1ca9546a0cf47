// A short way to make elements.

type Options = Record<string, unknown>;

export function el<K extends keyof HTMLElementTagNameMap>(tag: K, options: Options = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name in made) (made as any)[name] = value;
    else made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

export function button(text: string, title: string, onclick: () => void, more: Options = {}): HTMLButtonElement {
  const made = el("button", { textContent: text, title, onclick, type: "button", ...more });
  // a sign alone says nothing to who cannot see it
  if (!/[a-z]/i.test(text)) made.setAttribute("aria-label", title);
  return made;
}

// What a person arranged, kept in the browser.
export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`cockpit/${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(`cockpit/${name}`, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing still shows everything
  }
}
