#!/bin/sh
exec python3 -m afterword "$@"
