"""What people look at: figures, pictures, films, reports, the studio."""

from kalaba.view.studio.serving import studio as studio
from kalaba.view.studio.session import Studio as Studio
from kalaba.view.film import film as film
from kalaba.view.still import still as still
from kalaba.view.report import report as report
from kalaba.view import figures as figures
