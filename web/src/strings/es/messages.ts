/** Lo que dice Python, por sus palabras en inglés; «{name}» está en lugar de lo que cambia. Lo que dicen las excepciones del propio Python queda como es. */
export const messages: Record<string, string> = {
  "\n… and {count} more characters, which are not shown\n": "\n… y {count} caracteres más, que no se muestran\n",
  "1 input": "1 entrada",
  "1 operand": "1 operando",
  "True or False": "True o False",
  "Value(…) holds one number, as in Value(3.0); leave it out here":
    "Value(…) guarda un solo número, como en Value(3.0); aquí no hace falta",
  "a Value holds one real number (int, float, or a NumPy number), not {kind}: {text}":
    "un Value guarda un solo número real (int, float o un número de NumPy), no {kind}: {text}",
  "a choice is written where(a > b, x, y), for x if a > b, else y": "una elección se escribe where(a > b, x, y): x si a > b, y si no",
  "a comma": "una coma",
  "a comparison here": "aquí una comparación",
  "a complex number": "un número complejo",
  "a comprehension": "una comprensión",
  "a condition compares two numbers with <, <=, >, >=, == or !=": "una condición compara dos números con <, <=, >, >=, == o !=",
  "a dot here": "aquí un punto",
  "a function calls itself over and over: `{first}` leads to `{second}`, and that leads back to `{first}`":
    "una función se llama a sí misma una y otra vez: `{first}` lleva a `{second}`, y esta de vuelta a `{first}`",
  "a function calls itself over and over: `{name}` leads back to `{name}`":
    "una función se llama a sí misma una y otra vez: `{name}` lleva de vuelta a `{name}`",
  "a function calls itself over and over: what should make it stop?":
    "una función se llama a sí misma una y otra vez: ¿qué debería detenerla?",
  "a line names one result: write b = 2 and then a = b": "cada línea da nombre a un solo resultado: escribe b = 2 y luego a = b",
  "a list": "una lista",
  "a number runs into a name; write * to multiply, as in 2*a":
    "un número está pegado a un nombre; para multiplicar escribe *, como en 2*a",
  "a number this large does not fit a float (largest: about 1.8e308); scale it down":
    "un número tan grande no cabe en un float (el mayor es de unos 1.8e308); usa uno más pequeño",
  "a plain space": "un espacio normal",
  "a program has at most {most} characters, and this one has {count}; build a graph of that size with Values in Python":
    "un programa tiene como mucho {most} caracteres, y este tiene {count}; un grafo de ese tamaño se construye con Values en Python",
  "a program here has at most {most} characters, and this one has {count}":
    "aquí un programa tiene como mucho {most} caracteres, y este tiene {count}",
  "a program is text, as in program('L = a*b', a=2, b=3), not {kind}":
    "un programa es un texto, como en program('L = a*b', a=2, b=3), no {kind}",
  "an annotation": "una anotación",
  "an expression nests too deeply to be read; give its parts names, on lines of their own":
    "una expresión tiene demasiados paréntesis unos dentro de otros; da nombre a sus partes, cada una en su línea",
  "an f-string": "una f-string",
  "an int of {bits} bits does not fit a float (largest: about 1.8e308); scale it down, or use math.inf":
    "un int de {bits} bits no cabe en un float (el mayor es de unos 1.8e308); usa uno más pequeño, o math.inf",
  "every name is one number; give each its own, as x1, x2, x3": "cada nombre es un solo número; da a cada uno el suyo, como x1, x2, x3",
  "exit() ends a program, and here it would end the page's Python; leave it out":
    "exit() termina un programa, y aquí terminaría el Python de la página; quítalo",
  "for many numbers make many Values: [Value(x) for x in numbers]": "para varios números crea varios Values: [Value(x) for x in numbers]",
  "functions have no module here: write {name}(…)": "aquí las funciones no tienen módulo: escribe {name}(…)",
  "give it a line of its own, name = expression": "dale una línea propia, nombre = expresión",
  "here a Value is needed, one number, and a Tensor of shape {shape} was given: it does not know tensors yet; tensor.scalars() gives the same computation as Values, which it knows":
    "aquí hace falta un Value, un solo número, y ha llegado un Tensor de forma {shape}: esto todavía no sabe de tensores; tensor.scalars() da el mismo cálculo con Values, de los que sí sabe",
  "hidden layers: 1 to {most} of them, of 1 to {widest} neurons each, as [8, 8]; not {hidden}":
    "capas ocultas: de 1 a {most}, con 1 a {widest} neuronas cada una, como [8, 8]; no {hidden}",
  "if it is a number in text, write float({text})": "si es un número escrito como texto, escribe float({text})",
  "input() has nobody to ask here: write the number into the code instead":
    "aquí input() no tiene a quién preguntar: escribe el número en el código",
  "it belongs to the result; write gradwalk.zero_grad(program(…).root)":
    "es cosa del resultado; escribe gradwalk.zero_grad(program(…).root)",
  "it has no slope worth following; write / to divide": "no tiene una pendiente que merezca seguirse; escribe / para dividir",
  "it holds numbers and names, without quotes": "contiene números y nombres, sin comillas",
  "it is for methods, as in n.tanh(); data and gradients are read from the result":
    "es para métodos, como en n.tanh(); los datos y los gradientes se leen en el resultado",
  "it is made of lines such as d = a*b + c": "está hecho de líneas como d = a*b + c",
  "it is only the condition of a choice, as in where(a > b, x, y)":
    "solo sirve como condición de una elección, como en where(a > b, x, y)",
  "it needs none": "no necesita ninguna",
  "it only computes forward; write program(…).root.backward()": "solo calcula hacia delante; escribe program(…).root.backward()",
  "it uses {names}": "usa {names}",
  "its line {line} makes {name} anew: leave one of the two out": "su línea {line} vuelve a crear {name}: quita una de las dos cosas",
  "labels come from the names": "las etiquetas salen de los nombres",
  "layer {depth} of {kind}: {said}": "capa {depth} de {kind}: {said}",
  "look at the result instead, as in program(…)['L']": "mira mejor el resultado, como en program(…)['L']",
  "no Value was computed; write lines such as a = Value(2.0) and d = a * a":
    "no se calculó ningún Value; escribe líneas como a = Value(2.0) y d = a * a",
  "no function is called {name}; did you mean {other}?": "ninguna función se llama {name}; ¿querías decir {other}?",
  "no function is called {name}; there are {names}": "ninguna función se llama {name}; las que hay son {names}",
  "no {what} is called {name}; there are {names}": "{what}: ningún nombre es {name}; los que hay son {names}",
  "nonlin is True or False, not {given}; write activation={given}": "nonlin es True o False, no {given}; escribe activation={given}",
  "nothing": "nada",
  "nouts lists the number of neurons of each layer, as in [16, 16, 1]; it was {given}":
    "nouts es la lista del número de neuronas de cada capa, como [16, 16, 1]; era {given}",
  "numbers are floats already": "los números ya son floats",
  "numbers are real, as 2, 0.5 or 1e-3": "los números son reales, como 2, 0.5 o 1e-3",
  "numbers are written as 2, 0.5 or 1e-3": "los números se escriben como 2, 0.5 o 1e-3",
  "only a function by its name can be called; write * to multiply":
    "solo se puede llamar a una función por su nombre; para multiplicar escribe *",
  "only a name stands to the left of =, as in d = a*b": "a la izquierda de = solo puede haber un nombre, como en d = a*b",
  "stopped after {steps} steps: is there a loop that never ends?": "detenido tras {steps} pasos: ¿hay un bucle que no termina nunca?",
  "take its number with .item()": "toma su número con .item()",
  "text": "un texto",
  "the condition of a choice is one comparison, as in where(a > b, x, y)":
    "la condición de una elección es una sola comparación, como en where(a > b, x, y)",
  "the functions are there already, as in tanh(x)": "las funciones ya están ahí, como en tanh(x)",
  "the graph has {count} nodes, and this page draws up to {most}; take a smaller one, or draw it in Python: gradwalk.draw_dot(root)":
    "el grafo tiene {count} nodos, y esta página dibuja hasta {most}; prueba con uno más pequeño o dibújalo en Python: gradwalk.draw_dot(root)",
  "the graph has {count} nodes, and this page rolls up to {most}; take fewer":
    "el grafo tiene {count} nodos, y esta página enrolla hasta {most}; prueba con menos",
  "the last line gives {kind}, not a Value; end with the name of the node to draw":
    "la última línea da {kind}, no un Value; termina con el nombre del nodo que hay que dibujar",
  "the learning rate lies above 0 and up to {fastest}, not {rate}":
    "la tasa de aprendizaje está por encima de 0 y llega hasta {fastest}; no puede ser {rate}",
  "the program does not use the input {name}; {uses}": "el programa no usa la entrada {name}; {uses}",
  "the program does not use the inputs {names}; {uses}": "el programa no usa las entradas {names}; {uses}",
  "there are no loops; write the steps out, or build the graph with Values in Python":
    "no hay bucles; escribe los pasos uno a uno, o construye el grafo con Values en Python",
  "there are no names to learn from": "no hay nombres de los que aprender",
  "there is no {name}": "no hay ningún {name}",
  "there is no {name}; did you mean {other}? If it is an input, give it a value: {remedy}":
    "no hay ningún {name}; ¿querías decir {other}? Si es una entrada, dale un valor: {remedy}",
  "there is no {name}; give it a value: {remedy}": "no hay ningún {name}; dale un valor: {remedy}",
  "there is nothing to compute; write a line such as L = a*b": "no hay nada que calcular; escribe una línea como L = a*b",
  "there is nothing to roll up: the program computes nothing from its numbers":
    "no hay nada que enrollar: el programa no calcula nada con sus números",
  "this cannot be read (there is a null character)": "esto no se puede leer (hay un carácter nulo)",
  "this cannot be read ({why})": "esto no se puede leer ({why})",
  "this cannot be read ({why}); a program is made of lines such as d = a*b + c":
    "esto no se puede leer ({why}); un programa está hecho de líneas como d = a*b + c",
  "this cannot be read; between two names or numbers stands an operator, as in a*b":
    "esto no se puede leer; entre dos nombres o números va un operador, como en a*b",
  "this nests too deeply for Python: can you give a part of it a name, in a line of its own?":
    "esto está anidado demasiado para Python: ¿puedes darle un nombre a una parte, en una línea aparte?",
  "this result is not kept: give it a name, as in d = a*b": "este resultado no se guarda: ponle un nombre, como en d = a*b",
  "turn the comparison round, as in where(a <= b, x, y)": "dale la vuelta a la comparación, como en where(a <= b, x, y)",
  "write ** for a power, as in a**2": "escribe ** para una potencia, como en a**2",
  "write -x for the negative": "escribe -x para el opuesto",
  "write / to divide; rounding has no slope": "escribe / para dividir; redondear no tiene pendiente",
  "write 1 or 0": "escribe 1 o 0",
  "write a*2**n": "escribe a*2**n",
  "write a/2**n": "escribe a/2**n",
  "write name = expression": "escribe nombre = expresión",
  "write one name = expression at a time, and numbers with a point, as 1.5":
    "escribe nombre = expresión de una en una, y los números con punto, como 1.5",
  "write the formula out": "escribe la fórmula entera",
  "write the formula out; ops of your own are made with gradwalk.op in Python":
    "escribe la fórmula entera; las operaciones propias se hacen con gradwalk.op en Python",
  "write the operands in order": "escribe los operandos en orden",
  "write the operands one by one": "escribe los operandos uno a uno",
  "write the products out, as in x1*w1 + x2*w2": "escribe los productos uno a uno, como en x1*w1 + x2*w2",
  "write the sum out, as in a + b + c": "escribe la suma entera, como en a + b + c",
  "{because}; what can be changed is {names}": "{because}; lo que se puede cambiar es {names}",
  "{count} inputs": "{count} entradas",
  "{count} operands": "{count} operandos",
  "{count} or more operands": "{count} operandos o más",
  "{count} or {most} operands": "{count} o {most} operandos",
  "{error} is for ending a whole program, and here it would end the page's Python; raise another error":
    "{error} es para terminar un programa entero, y aquí terminaría el Python de la página; lanza otro error",
  "{names} and {count} more": "{names} y {count} más",
  "{names} have no value; give them one: {remedy}": "{names} no tienen valor; dales uno: {remedy}",
  "{name} is a function; write {name}(…)": "{name} es una función; escribe {name}(…)",
  "{name} is computed from others": "{name} se calcula a partir de otros",
  "{name} is given {number}; a number is needed, as 2, -0.5 or 1e-3": "{name} recibe {number}; hace falta un número, como 2, -0.5 o 1e-3",
  "{name} is not a method: write {name}(…)": "{name} no es un método: escribe {name}(…)",
  "{name} is used before line {line} makes it; move that line up, or give it a value: {remedy}":
    "{name} se usa antes de que la línea {line} lo cree; sube esa línea o dale un valor: {remedy}",
  "{name} takes {takes} and is given {count}": "{name} toma {takes} y recibe {count}",
  "{said}; Value and the functions are at hand without an import": "{said}; Value y las funciones están a mano sin ningún import",
  "{taker} takes {taken} and was given {count}": "{taker} toma {taken} y recibió {count}",
  "{what} is a name ({names}) or a function, not {kind}: {given}": "{what} es un nombre ({names}) o una función, no {kind}: {given}",
  "{what} is a whole number of at least 1, not {kind}: {given}": "{what} es un número entero, 1 como mínimo, no {kind}: {given}",
  "{what} is a whole number of at least 1, not {n}": "{what} es un número entero, 1 como mínimo, no {n}",
  "{what} is no part of a program: {remedy}": "{what} no forma parte de un programa: {remedy}",
  "{what} is no part of a program; write {instead}": "{what} no forma parte de un programa; escribe {instead}",
};
