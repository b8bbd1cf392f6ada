/** The code editor: CodeMirror, loaded only where something is to be written. */
import {defaultKeymap, history, historyKeymap} from "@codemirror/commands";
import {python} from "@codemirror/lang-python";
import {bracketMatching, indentOnInput, indentUnit, syntaxHighlighting} from "@codemirror/language";
import {EditorState, Prec, RangeSetBuilder, StateEffect, StateField} from "@codemirror/state";
import {Decoration, EditorView, MatchDecorator, ViewPlugin, drawSelection, keymap, lineNumbers, type DecorationSet, type ViewUpdate} from "@codemirror/view";
import {classHighlighter} from "@lezer/highlight";

export type Editor = {show(text: string): void; mark(lines: readonly number[]): void; focus(): void; destroy(): void};

export type Options = {text: string; label: string; describedBy: string; onChange(text: string): void; onRun(): void};

export function edit(parent: HTMLElement, {text, label, describedBy, onChange, onRun}: Options): Editor {
  let silent = false; // while the page itself changes the text
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        indentUnit.of("    "),
        EditorState.tabSize.of(4),
        python(),
        syntaxHighlighting(classHighlighter),
        meanings,
        marks,
        EditorView.lineWrapping,
        hanging,
        // Tab is not bound: it leaves the editor, as it leaves every field
        Prec.highest(keymap.of([{key: "Mod-Enter", run: () => (onRun(), true)}])),
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({"aria-label": label, "aria-describedby": describedBy, tabindex: "0", autocapitalize: "off", spellcheck: "false"}),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !silent) onChange(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    show(next) {
      if (next === view.state.doc.toString()) return;
      silent = true;
      view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: next}});
      silent = false;
    },
    mark(lines) {
      view.dispatch({effects: setMarks.of(lines)});
      const [first] = lines.filter((n) => n >= 1 && n <= view.state.doc.lines);
      if (first === undefined) return;
      const {scrollDOM} = view; // of a long text the line comes into sight; the page stays where it is
      scrollDOM.scrollTop = view.lineBlockAt(view.state.doc.line(first).from).top - scrollDOM.clientHeight / 2;
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

// --- lines that a test found fault with; they go as soon as the text changes

const setMarks = StateEffect.define<readonly number[]>();
const badLine = Decoration.line({class: "bad-line"});

const marks = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marked, change) {
    for (const effect of change.effects) {
      if (!effect.is(setMarks)) continue;
      const lines = [...effect.value].filter((n) => n >= 1 && n <= change.state.doc.lines).sort((a, b) => a - b);
      return Decoration.set(lines.map((n) => badLine.range(change.state.doc.line(n).from)));
    }
    return change.docChanged ? Decoration.none : marked;
  },
  provide: (field) => EditorView.decorations.from(field),
});

// --- how far each line is set in: a long one goes on below, further in than it began

function setIn({visibleRanges, state}: EditorView): DecorationSet {
  const lines = new RangeSetBuilder<Decoration>();
  for (const {from, to} of visibleRanges) {
    for (let line = state.doc.lineAt(from); ; line = state.doc.line(line.number + 1)) {
      lines.add(line.from, line.from, Decoration.line({attributes: {style: `--in: ${/^ */.exec(line.text)![0].length}ch`}}));
      if (line.to >= to) break;
    }
  }
  return lines.finish();
}

const hanging = ViewPlugin.define((view) => ({
  decorations: setIn(view),
  update(update: ViewUpdate) {
    if (update.docChanged || update.viewportChanged) this.decorations = setIn(update.view);
  },
}), {decorations: (plugin) => plugin.decorations});

// --- .data and .grad in the colours of their meaning

const matcher = new MatchDecorator({
  regexp: /\b[A-Za-z_]\w*\.(data|grad)\b/g,
  decoration: (match) => Decoration.mark({class: match[1] === "data" ? "means-data" : "means-grad"}),
});

const meanings = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = matcher.createDeco(view);
    }
    update(update: ViewUpdate) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    }
  },
  {decorations: (plugin) => plugin.decorations},
);
