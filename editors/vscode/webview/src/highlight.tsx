// What colours does code get? As nodes, never as markup: a model's words are not parsed as HTML anywhere.

import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import lua from 'highlight.js/lib/languages/lua';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import php from 'highlight.js/lib/languages/php';
import powershell from 'highlight.js/lib/languages/powershell';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import swift from 'highlight.js/lib/languages/swift';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { ComponentChildren } from 'preact';

const GRAMMARS = {
  ...{ bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, makefile, markdown },
  ...{ php, powershell, python, ruby, rust, sql, swift, typescript, xml, yaml },
};
const MOST = 60_000;

const lowlight = createLowlight(GRAMMARS);
type Nodes = ReturnType<typeof lowlight.highlight>['children'];

export function highlighted(code: string, language: string): ComponentChildren {
  const name = language.toLowerCase();
  if (code.length > MOST || !lowlight.registered(name)) return code;
  return drawn(lowlight.highlight(name, code).children);
}

function drawn(nodes: Nodes): ComponentChildren {
  return nodes.map((node) => {
    if (node.type === 'text') return node.value;
    if (node.type !== 'element') return null;
    const names = node.properties['className'];
    return <span class={Array.isArray(names) ? names.join(' ') : ''}>{drawn(node.children as Nodes)}</span>;
  });
}
