// Fetches the page's scripts; where one does not come, the page is loaded again.
import("/static/study.js").catch((fault) => fault.name === "SyntaxError" || setTimeout(() => location.reload(), 3000));
